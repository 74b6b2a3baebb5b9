import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import register from '../../src/hooks/register.js'

const registrations = await register()

describe('the agents of this package', () => {
  test.each(registrations.map((one) => [one.entry.agent, one] as const))('%s is built into the executable', async (_, one) => {
    expect(one.load).toBeDefined()
    expect(await one.load!()).toBe(await import(fileURLToPath(one.module).replace(/\.js$/, '.ts')))
    expect(await one.load!()).toHaveProperty(one.export ?? 'default')
  })
})
