// One resource inside the virtual network, found there under its usual name.

@description('Name of the endpoint.')
param name string
@description('Region.')
param location string
@description('Tags.')
param tags object
@description('The resource.')
param targetId string
@description('Which of the resource\'s services.')
param groupId string
@description('The private DNS zones that its names are looked up in.')
param zoneNames array
@description('The virtual network.')
param networkId string
@description('The subnet for endpoints.')
param subnetId string

resource endpoint 'Microsoft.Network/privateEndpoints@2024-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    subnet: { id: subnetId }
    privateLinkServiceConnections: [
      {
        name: groupId
        properties: { privateLinkServiceId: targetId, groupIds: [groupId] }
      }
    ]
  }
}

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [for zone in zoneNames: {
  name: zone
  location: 'global'
  tags: tags
}]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [for (zone, i) in zoneNames: {
  parent: zones[i]
  name: 'network'
  location: 'global'
  tags: tags
  properties: {
    registrationEnabled: false
    virtualNetwork: { id: networkId }
  }
}]

resource records 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-05-01' = {
  parent: endpoint
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [for (zone, i) in zoneNames: {
      name: replace(zone, '.', '-')
      properties: { privateDnsZoneId: zones[i].id }
    }]
  }
}
