import ResourceAddressing

/// A transport that refuses HTTP requests while the cost of the network is not accepted.
///
/// Local resources are always available.
struct CostLimitedTransport: Transport {
    let base: any Transport
    let network: NetworkStatus
    let accepted: NetworkCost

    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if request.address.isHTTP, let cost = network.cost, !accepted.isSuperset(of: cost) {
            throw TransportError(
                .networkRefused,
                "the network is \(cost.subtracting(accepted)), which is not allowed for this request",
                address: request.address
            )
        }
        return try await base.send(request)
    }
}

extension ResourceLoader {
    /// Returns a copy of the loader that monitors the cost of the network.
    ///
    /// - Parameters:
    ///   - network: The status of the network.
    ///   - accepted: The accepted costs. While the network has any other cost, requests fail with
    ///     ``TransportError/Code/networkRefused``. By default, all costs are accepted.
    /// - Returns: The loader with the network status.
    public func limited(
        to network: NetworkStatus,
        accepting accepted: NetworkCost = [.expensive, .constrained, .cellular]
    ) -> ResourceLoader {
        var loading = self
        loading.network = network
        let isLimited = !accepted.isSuperset(of: [.expensive, .constrained, .cellular])
        guard isLimited else { return loading }
        return loading.wrappingTransport { CostLimitedTransport(base: $0, network: network, accepted: accepted) }
    }
}
