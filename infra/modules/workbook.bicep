// A page in the portal that shows how the memory does: workbook.json, whose queries infra_check holds against the code.

@description('Region.')
param location string
@description('Tags.')
param tags object
@description('Where the app\'s telemetry is.')
param applicationInsightsId string

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(applicationInsightsId, 'agent-memory')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: 'Agent memory'
    category: 'workbook'
    sourceId: applicationInsightsId
    serializedData: string(loadJsonContent('workbook.json'))
  }
}
