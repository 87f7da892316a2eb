import ResourceAddressing

/// Another transport, through which nothing is asked for while the network costs more than it may.
///
/// What lies on this machine costs nothing.
struct GatedTransport: Transport {
    let base: any Transport
    let network: NetworkStatus
    let accepted: NetworkCost

    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if request.address.isHTTP, let cost = network.cost, !accepted.isSuperset(of: cost) {
            throw TransportError(
                .networkRefused,
                "the network is \(cost.subtracting(accepted)), and may not be used for this",
                address: request.address
            )
        }
        return try await base.send(request)
    }
}

extension ResourceLoading {
    /// The same over a network of which it is known what it costs.
    ///
    /// - Parameters:
    ///   - network: What is known of it.
    ///   - accepted: What it may be; while it is anything else, requests fail with
    ///     ``TransportError/Code/networkRefused``. Everything by default.
    /// - Returns: A loader that knows the network.
    public func over(
        _ network: NetworkStatus,
        accepting accepted: NetworkCost = [.expensive, .constrained, .cellular]
    ) -> ResourceLoading {
        var loading = self
        loading.network = network
        let isLimited = !accepted.isSuperset(of: [.expensive, .constrained, .cellular])
        guard isLimited else { return loading }
        return loading.through { GatedTransport(base: $0, network: network, accepted: accepted) }
    }
}
