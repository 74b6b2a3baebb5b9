import type { Config } from '@oclif/core'
import { describe, expect, test } from '@jest/globals'
import { letta, pi } from '../../src/catalog/index.js'
import register from '../../src/hooks/register.js'
import { gatherRegistry } from '../../src/hooks/registry.js'

const OURS = { name: '@agent-forensics/plugin-letta', version: '0.1.0' }
const OTHER = { name: 'other', version: '2.0.0' }

/** A host whose plugins answered the hook like this. */
function host(...answers: { plugin: { name: string; version: string }; result?: unknown; error?: Error }[]): Config {
  const runHook = async () => ({
    successes: answers.filter(({ error }) => !error).map(({ plugin, result }) => ({ plugin, result })),
    failures: answers.flatMap(({ plugin, error }) => (error ? [{ plugin, error }] : [])),
  })
  return { runHook } as unknown as Config
}

const ours = async () => ({ plugin: OURS, result: await register() })
const module = 'file:///nowhere.js'

describe('who reads an agent', () => {
  test('the bundled parser of pi steps back, on record', async () => {
    const registry = await gatherRegistry(host(await ours(), { plugin: OTHER, result: [{ entry: pi, module }] }))
    expect(registry.settle().map(({ entry, by }) => [entry.agent, by.name])).toEqual([
      ['claude-code', OURS.name],
      ['letta', OURS.name],
      ['pi', OTHER.name],
    ])
    expect(registry.notes).toMatchObject([
      { kind: 'stepped-back', agent: 'pi', plugins: ['@agent-forensics/plugin-letta@0.1.0', 'other@2.0.0'] },
    ])
  })

  test('a second parser for letta disables letta only', async () => {
    const registry = await gatherRegistry(host(await ours(), { plugin: OTHER, result: [{ entry: letta, module }] }))
    expect(registry.settle().map(({ entry }) => entry.agent)).toEqual(['claude-code', 'pi'])
    expect(registry.notes).toMatchObject([
      { kind: 'conflict', agent: 'letta', plugins: ['@agent-forensics/plugin-letta@0.1.0', 'other@2.0.0'] },
    ])
  })
})

describe('a plugin that does not keep the contract is named, and costs nothing else', () => {
  test.each([
    ['throws', { error: new Error('no luck') }, 'plugin other@2.0.0 could not register: no luck'],
    ['returns nothing', { result: undefined }, 'plugin other@2.0.0 could not register: its hook returned no list of registrations'],
    ['has a catalog entry that is none', { result: [{ entry: { agent: 'x y' }, module }] }, 'its catalog entry is not one'],
    ['registers nothing at all in its list', { result: [null] }, 'plugin other@2.0.0 could not register'],
  ])('its hook %s', async (_, answer, message) => {
    const registry = await gatherRegistry(host({ plugin: OTHER, ...answer }, await ours()))
    expect(registry.settle()).toHaveLength(3)
    expect(registry.notes).toHaveLength(1)
    expect(registry.notes[0]!.message).toContain(message)
  })

  test('its parser module cannot be loaded: the agent is named, the others are read', async () => {
    const registry = await gatherRegistry(
      host({ plugin: OTHER, result: [{ entry: { ...pi, agent: 'x' }, module }] }, { plugin: OURS, result: [] }),
    )
    expect(await registry.load(registry.settle())).toEqual([])
    expect(registry.notes[0]!.message).toMatch(/^agent x cannot be read: the parser of plugin other@2.0.0 could not be loaded: /)
  })
})
