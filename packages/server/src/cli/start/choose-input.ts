import { resolve } from 'node:path'
import type { DemoInput } from '../../demo/demo-messages.ts'
import { surveyRecording } from '../../demo/recorded-blocks.ts'
import type { StartOptions } from '../start-command.ts'
import { checkReadable } from '../check-readable.ts'
import { UsageError } from '../usage-error.ts'
import type { DemoState, DemoStateFile } from './demo-state.ts'

/** Refuses options that do not go together, and a recording that is not there, before anything is started. */
export async function checkInput(options: StartOptions): Promise<void> {
  const { rpc, logs, contract, startBlock, shiftToNow } = options
  if (rpc !== undefined && logs !== undefined) throw new UsageError('--rpc and --logs exclude each other')
  if (rpc === undefined && (contract !== undefined || startBlock !== undefined)) {
    throw new UsageError('--contract and --start-block need --rpc')
  }
  if (logs === undefined && shiftToNow) throw new UsageError('--shift-to-now needs --logs')
  if (rpc !== undefined && !URL.canParse(rpc)) throw new UsageError(`--rpc must be an address, not "${rpc}"`)
  if (contract !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(contract)) {
    throw new UsageError(`--contract must be 0x and 40 hexadecimal digits, not "${contract}"`)
  }
  if (logs !== undefined) await checkReadable('--logs', logs)
}

/** Where the demo's blocks come from. */
export async function chooseInput(
  options: StartOptions,
  state: DemoState,
  file: DemoStateFile,
): Promise<DemoInput> {
  if (options.rpc !== undefined) {
    const { rpc: url, contract = null, startBlock = null } = options
    return { kind: 'rpc', url, contract: contract?.toLowerCase() ?? null, startBlock }
  }
  if (options.logs === undefined) return { kind: 'simulation', seed: 'millrace' }
  const path = resolve(options.logs)
  const { lines, lastSeconds } = await surveyRecording(path)
  if (state.recording?.path === path) return { kind: 'logs', lines, ...state.recording }
  const shiftSeconds = options.shiftToNow ? Math.floor(Date.now() / 1000) - lastSeconds : 0
  await file.write({ ...((await file.read()) ?? state), recording: { path, shiftSeconds } })
  return { kind: 'logs', lines, path, shiftSeconds }
}
