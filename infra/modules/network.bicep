// A virtual network: one subnet that the function app looks out of, one for private endpoints.

@description('Name of the network.')
param name string
@description('Region.')
param location string
@description('Tags.')
param tags object

resource network 'Microsoft.Network/virtualNetworks@2024-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: ['10.0.0.0/16'] }
    subnets: [
      {
        name: 'app'
        properties: {
          addressPrefix: '10.0.1.0/24'
          delegations: [
            { name: 'flex', properties: { serviceName: 'Microsoft.App/environments' } }
          ]
        }
      }
      {
        name: 'endpoints'
        properties: { addressPrefix: '10.0.2.0/24' }
      }
    ]
  }
}

output id string = network.id
output appSubnetId string = '${network.id}/subnets/app'
output endpointSubnetId string = '${network.id}/subnets/endpoints'
