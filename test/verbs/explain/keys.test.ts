import { describe, expect, test } from '@jest/globals'
import { isSecretKey } from '../../../src/catalog/index.js'
import { maskKeys } from '../../../src/verbs/explain/masks.js'

describe('the key patterns of credentials', () => {
  test.each([
    ['env.A', ['env.*'], true],
    ['env', ['env.*'], false],
    ['env.A.b', ['env.*'], true],
    ['hooks.Stop.0.hooks.1.command', ['hooks.**.command'], true],
    ['hooks.command', ['hooks.**.command'], true],
    ['hooks.Stop.0.matcher', ['hooks.**.command'], false],
    ['accounts.0.token', ['accounts.*.token'], true],
    ['accounts.0.tokens', ['accounts.*.token'], false],
    ['anything', ['**'], true],
    ['__proto__.x', ['env.*'], false],
  ])('%s under %j is secret: %s', (key, patterns, secret) => {
    expect(isSecretKey(key.split('.'), patterns)).toBe(secret)
  })
})

describe('masking by key', () => {
  test('takes values of any type, also below the key, and leaves every other byte', () => {
    const text = '{ "env" : {"A":"x","B":{"c":[1,true]},"D":null},\n"keep":"env", "__proto__":{"A":"y"} }'
    const masked = maskKeys(text, ['env.*'])
    expect(masked.count).toBe(3)
    expect(masked.text).toBe(
      '{ "env" : {"A":"[masked: 3 characters]","B":{"c":["[masked: 1 characters]","[masked: 4 characters]"]},"D":null},\n"keep":"env", "__proto__":{"A":"y"} }',
    )
  })

  test('takes every value of a key that stands twice', () => {
    expect(maskKeys('{"env":{"A":"one","A":"two"}}', ['env.*']).text).not.toMatch(/one|two/)
  })

  test('takes what can be told of a torn file', () => {
    expect(maskKeys('{"env":{"A":"one","B":"tw', ['env.*']).text).not.toMatch(/one|tw/)
  })
})
