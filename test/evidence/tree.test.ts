import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { EvidenceTrouble, FolderTree, readable, treePath, type TreePath } from '../../src/evidence/index.js'
import { write } from '../helpers/fixtures.js'
import { scratch } from '../helpers/places.js'

const root = scratch('tree')
let folder: string
let tree: FolderTree
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(root, 'case-'))
  tree = new FolderTree(folder)
})

const GLOBS = ['.letta/settings.json', '.letta/transcripts/*/*/transcript.jsonl']

async function text(at: TreePath): Promise<string> {
  const listed = tree.list(at)
  if (!listed) throw new Error(`${at} is not listed`)
  const parts: Buffer[] = []
  for await (const chunk of tree.read(at, listed)) parts.push(Buffer.from(chunk))
  return Buffer.concat(parts).toString()
}

const troubles = () => tree.takeTroubles().map((trouble) => `${trouble.path} ${trouble.problem}`)

describe('a folder as evidence', () => {
  test('gives the files that patterns name, and their bytes', async () => {
    write(path.join(folder, '.letta/settings.json'), '{"é":1}')
    write(path.join(folder, '.letta/transcripts/a/b/transcript.jsonl'), 'x\n')
    write(path.join(folder, '.letta/transcripts/a/transcript.jsonl'), 'not this one')
    expect(tree.find('', GLOBS).sort()).toEqual(['.letta/settings.json', '.letta/transcripts/a/b/transcript.jsonl'])
    expect(await text('.letta/settings.json')).toBe('{"é":1}')
    expect(troubles()).toEqual([])
  })

  test('what is not there is no trouble', () => {
    expect(tree.find('', GLOBS)).toEqual([])
    expect(tree.find('no/such/place', GLOBS)).toEqual([])
    expect(tree.list('.letta/settings.json')).toBeUndefined()
    expect(troubles()).toEqual([])
  })

  test('a file longer than a chunk is read whole', async () => {
    const content = 'x'.repeat(3_000_000) + 'end'
    write(path.join(folder, 'long'), content)
    expect((await text('long')).length).toBe(content.length)
  })

  test('names that look like patterns are names', () => {
    for (const name of ['[a]', '{a,b}', '!x', '*', 'a(b)', '$x', 'a b', '(a|b)'])
      write(path.join(folder, name, '.letta/settings.json'), '{}')
    for (const name of ['[a]', '{a,b}', '!x', '*', 'a(b)'])
      expect(tree.find(name, ['.letta/settings.json'])).toEqual([`${name}/.letta/settings.json`])
    expect(tree.find('', ['**/.letta/settings.json'])).toHaveLength(8)
  })

  test('names with a backslash are names', async () => {
    write(path.join(folder, 'a\\b/.letta/settings.json'), 'x')
    expect(tree.find('', ['**/.letta/settings.json'])).toEqual(['a\\b/.letta/settings.json'])
    expect(await text('a\\b/.letta/settings.json')).toBe('x')
  })

  test('a line break in a folder name hides nothing', () => {
    write(path.join(folder, 'a\nb/.letta/settings.json'), 'x')
    write(path.join(folder, 'a\nb/c\rd/.letta/settings.json'), 'x')
    expect(tree.find('', ['**/.letta/settings.json']).sort()).toEqual(['a\nb/.letta/settings.json', 'a\nb/c\rd/.letta/settings.json'])
    expect(tree.find('a\nb', ['**/.letta/settings.json']).sort()).toEqual(['a\nb/.letta/settings.json', 'a\nb/c\rd/.letta/settings.json'])
  })

  test('names that are not UTF-8 are found, opened, and told apart in words', async () => {
    for (const byte of [0xff, 0xfe]) {
      const directory = Buffer.concat([Buffer.from(`${folder}/.letta/transcripts/agent-é-`), Buffer.from([byte]), Buffer.from('/c')])
      fs.mkdirSync(directory, { recursive: true })
      fs.writeFileSync(Buffer.concat([directory, Buffer.from('/transcript.jsonl')]), `byte ${byte}`)
    }
    const found = tree.find('', GLOBS).sort()
    expect(found.map(readable)).toEqual([
      '.letta/transcripts/agent-é-\\xfe/c/transcript.jsonl',
      '.letta/transcripts/agent-é-\\xff/c/transcript.jsonl',
    ])
    expect(await Promise.all(found.map(text))).toEqual(['byte 254', 'byte 255'])
  })

  test('a name that is text survives both ways', () => {
    for (const name of ['plain', 'é', '日本', '😀', 'a/b']) expect(readable(treePath(name))).toBe(name)
  })
})

describe('links', () => {
  test('in the place of a file are named, not followed', async () => {
    write(path.join(folder, 'secret'), 'secret')
    fs.mkdirSync(path.join(folder, '.letta'))
    fs.symlinkSync('../secret', path.join(folder, '.letta/settings.json'))
    expect(tree.list('.letta/settings.json')?.kind).toBe('link')
    await expect(text('.letta/settings.json')).rejects.toThrow('is a symbolic link, which is not followed')
  })

  test('in the place of a folder that a pattern names are named, not entered', async () => {
    write(path.join(folder, 'elsewhere/settings.json'), '{}')
    fs.symlinkSync('elsewhere', path.join(folder, '.letta'))
    expect(tree.find('', GLOBS)).toEqual([])
    expect(troubles()).toEqual(['.letta is a symbolic link, which is not followed'])
    expect(tree.list('.letta/settings.json')).toBeUndefined()
    expect(tree.names('.letta')).toEqual([])
  })

  test('in the place of a folder that a * would have matched are named, too', () => {
    write(path.join(folder, 'elsewhere/c/transcript.jsonl'), 'x')
    write(path.join(folder, '.letta/transcripts/real/c/transcript.jsonl'), 'x')
    fs.symlinkSync(path.join(folder, 'elsewhere'), path.join(folder, '.letta/transcripts/linked'))
    fs.symlinkSync(path.join(folder, 'elsewhere/c'), path.join(folder, '.letta/transcripts/real/linked'))
    fs.symlinkSync('nowhere', path.join(folder, '.letta/unrelated'))
    expect(tree.find('', GLOBS)).toEqual(['.letta/transcripts/real/c/transcript.jsonl'])
    expect(troubles().sort()).toEqual([
      '.letta/transcripts/linked is a symbolic link, which is not followed',
      '.letta/transcripts/real/linked is a symbolic link, which is not followed',
    ])
  })

  test('of a project tree are named only where .letta is the link', () => {
    write(path.join(folder, 'elsewhere/settings.json'), '{}')
    write(path.join(folder, 'p/.letta/settings.json'), '{}')
    fs.symlinkSync('../elsewhere', path.join(folder, 'p/docs'))
    fs.mkdirSync(path.join(folder, 'p/sub'))
    fs.symlinkSync('../../elsewhere', path.join(folder, 'p/sub/.letta'))
    expect(tree.find('p', ['**/.letta/settings.json'])).toEqual(['p/.letta/settings.json'])
    expect(troubles()).toEqual(['p/sub/.letta is a symbolic link, which is not followed'])
  })

  test('that lead in a circle end no run', () => {
    fs.mkdirSync(path.join(folder, 'a/b'), { recursive: true })
    fs.symlinkSync('..', path.join(folder, 'a/b/up'))
    fs.symlinkSync('self', path.join(folder, 'a/self'))
    write(path.join(folder, 'a/b/.letta/settings.json'), '{}')
    expect(tree.find('', ['**/.letta/settings.json'])).toEqual(['a/b/.letta/settings.json'])
  })

  test('put in the place of a folder after it was listed lead nowhere', async () => {
    write(path.join(folder, 'outside/settings.json'), 'outside')
    write(path.join(folder, '.letta/settings.json'), 'inside')
    const listed = tree.list('.letta/settings.json')!
    fs.renameSync(path.join(folder, '.letta'), path.join(folder, 'moved'))
    fs.symlinkSync('outside', path.join(folder, '.letta'))
    const read = async () => {
      for await (const chunk of tree.read('.letta/settings.json', listed)) expect(String(chunk)).not.toContain('outside')
    }
    await expect(read()).rejects.toThrow(EvidenceTrouble)
  })

  test('at the root are where the person pointed: the root may be one', async () => {
    write(path.join(folder, 'real/x'), 'x')
    fs.symlinkSync('real', path.join(folder, 'link'))
    tree = new FolderTree(path.join(folder, 'link'))
    expect(await text('x')).toBe('x')
    expect(tree.identity('x')).toBe(new FolderTree(path.join(folder, 'real')).identity('x'))
    expect(new FolderTree(folder).identity('real/x')).toBe(tree.identity('x'))
  })

  test('have an identity of their own, not that of what they lead to', () => {
    write(path.join(folder, 'real'), 'x')
    fs.symlinkSync('real', path.join(folder, 'link'))
    expect(tree.identity('link')).not.toBe(tree.identity('real'))
  })
})

describe('what is no regular file', () => {
  test.each([
    ['a FIFO', (at: string) => spawnSync('mkfifo', [at]).status === 0],
    [
      'a socket',
      (at: string) => spawnSync('python3', ['-c', `import socket; socket.socket(socket.AF_UNIX).bind(${JSON.stringify(at)})`]).status === 0,
    ],
    ['a device', (at: string) => spawnSync('mknod', [at, 'c', '1', '5']).status === 0],
  ])('%s is named, never opened', async (name, make) => {
    const at = path.join(folder, 's')
    if (!make(at)) {
      process.stderr.write(`\nSKIPPED: ${name} cannot be made here\n`)
      return
    }
    expect(tree.list('s')?.kind).toBe('special')
    await expect(text('s')).rejects.toThrow('is not a regular file')
  })

  test('a directory where a file is wanted is named', async () => {
    fs.mkdirSync(path.join(folder, 'd'))
    await expect(text('d')).rejects.toThrow('is not a regular file')
  })

  test('a sparse file, made to exhaust its reader, is named with its sizes and not read', async () => {
    write(path.join(folder, 'sparse'), '')
    fs.truncateSync(path.join(folder, 'sparse'), 10 * 1024 ** 3)
    await expect(text('sparse')).rejects.toThrow(/is sparse: 10737418240 bytes long with \d+ allocated; not read/)
  })

  test('a small file with a hole is read', async () => {
    write(path.join(folder, 'hole'), '')
    fs.truncateSync(path.join(folder, 'hole'), 4096)
    expect(await text('hole')).toHaveLength(4096)
  })

  test('a file swapped for another after it was listed is not taken for it', async () => {
    write(path.join(folder, 'f'), 'listed')
    const listed = tree.list('f')!
    write(path.join(folder, 'g'), 'other')
    fs.renameSync(path.join(folder, 'g'), path.join(folder, 'f'))
    const read = async () => {
      for await (const _ of tree.read('f', listed));
    }
    await expect(read()).rejects.toThrow('is not the file that was listed: it was replaced in between')
  })

  test('a file that is gone when it is opened is named', async () => {
    write(path.join(folder, 'f'), 'listed')
    const listed = tree.list('f')!
    fs.rmSync(path.join(folder, 'f'))
    const read = async () => {
      for await (const _ of tree.read('f', listed));
    }
    await expect(read()).rejects.toThrow('was gone when it was opened')
  })
})
