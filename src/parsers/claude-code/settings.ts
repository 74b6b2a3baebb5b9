import { z } from 'zod'
import { permissionRows } from '../permissions.js'
import { known } from '../shapes.js'
import { jsonStore } from '../store.js'

/**
 * settings.json of the user, settings.json and settings.local.json of a project (pi-and-claude-code 2.4; seen in 2.1.332). Values under
 * `env` and the like can be secrets and reach no row.
 */
const SettingsFile = z.looseObject({
  permissions: z.record(z.string(), z.unknown()).nullish(),
  ...known(`$schema model cleanupPeriodDays env hooks disableAllHooks includeCoAuthoredBy attribution apiKeyHelper awsAuthRefresh
    awsCredentialExport otelHeadersHelper statusLine outputStyle theme effortLevel alwaysThinkingEnabled autoUpdatesChannel language
    enableAllProjectMcpServers enabledMcpjsonServers disabledMcpjsonServers allowedMcpServers deniedMcpServers forceLoginMethod
    forceLoginOrgUUID enabledPlugins extraKnownMarketplaces strictKnownMarketplaces sandbox companyAnnouncements spinnerTipsEnabled
    plansDirectory respectGitignore skipDangerousModePermissionPrompt`),
})

const PERMISSION_KEYS = ['defaultMode', 'allow', 'deny', 'ask', 'additionalDirectories']

export const settings = jsonStore({
  id: 'settings',
  record: SettingsFile,
  rows: ({ record }, rows) => permissionRows(record.permissions ?? {}, PERMISSION_KEYS, rows),
})
