import { describe, expect, test } from '@jest/globals'
import { letta } from '../../src/catalog/index.js'
import { loadParser, Registry } from '../../src/parsers/index.js'

const ours = { name: '@agent-forensics/plugin-letta', version: '1.0.0', bundled: true }
const other = (name: string) => ({ name, version: '2.0.0', bundled: false })
const registration = (agent: string) => ({ entry: { ...letta, agent }, module: 'file:///nowhere.js' })

describe('the registry', () => {
  test('gives each agent to who registered it, in order of agent', () => {
    const registry = new Registry()
    registry.add(registration('pi'), ours)
    registry.add(registration('letta'), ours)
    registry.add(registration('example'), other('x'))
    expect(registry.settle().map(({ entry, by }) => [entry.agent, by.name])).toEqual([
      ['example', 'x'],
      ['letta', ours.name],
      ['pi', ours.name],
    ])
    expect(registry.notes).toEqual([])
  })

  test('has the bundled parser step back for another plugin, on record', () => {
    const registry = new Registry()
    registry.add(registration('pi'), ours)
    registry.add(registration('pi'), other('better-pi'))
    expect(registry.settle().map(({ by }) => by.name)).toEqual(['better-pi'])
    expect(registry.notes).toMatchObject([
      { kind: 'stepped-back', agent: 'pi', plugins: ['@agent-forensics/plugin-letta@1.0.0', 'better-pi@2.0.0'] },
    ])
  })

  test('disables an agent that two other plugins claim, naming both, and no other agent', () => {
    const registry = new Registry()
    registry.add(registration('pi'), ours)
    registry.add(registration('pi'), other('one'))
    registry.add(registration('pi'), other('two'))
    registry.add(registration('letta'), ours)
    expect(registry.settle().map(({ entry }) => entry.agent)).toEqual(['letta'])
    const [note] = registry.notes
    expect(note).toMatchObject({ kind: 'conflict', agent: 'pi' })
    expect(note!.message).toMatch(/one@2\.0\.0 and two@2\.0\.0/)
  })

  test('notes a plugin that failed with its name, version and error', () => {
    const registry = new Registry()
    registry.failed(other('broken'), new Error('boom'))
    registry.failed(other('odd'), 'just text')
    expect(registry.notes.map(({ message }) => message)).toEqual([
      'plugin broken@2.0.0 could not register: boom',
      'plugin odd@2.0.0 could not register: just text',
    ])
  })

  test('says which export is no parser class', async () => {
    const module = 'data:text/javascript,export const x = 1'
    await expect(loadParser({ entry: letta, module, export: 'x' })).rejects.toThrow(/has no export x that is a parser class/)
  })
})
