import MediaTransport
import ResourceAddressing

/// A transport that applies the policy for sources to responses from a cache, which other programs of the owner may
/// have filled.
///
/// Without it, a client could read a resource of a private host that the owner has played.
struct PermittedTransport: Transport {
    let base: any Transport
    let policy: SourcePolicy
    /// The cache of host addresses; `nil` behind a proxy, which resolves names itself.
    let hosts: HostCache?

    /// The executor of the underlying transport; see `Transport/executor`.
    var executor: (any TaskExecutor)? { base.executor }

    /// Sends a request if the policy permits its URL, and returns the response if the policy permits the URL that
    /// redirects led to.
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await check(request.address)
        let response = try await base.send(request)
        if response.address.text != request.address.text { try await check(response.address) }
        return response
    }

    private func check(_ address: ResourceAddress) async throws {
        // Other schemes are answered, or refused, by the transport itself.
        guard address.isHTTP else { return }
        let isAllowed =
            if let hosts {
                try await policy.allowsLoading(address, resolving: hosts)
            } else {
                policy.allowsLoading(address, resolvedTo: [])
            }
        guard isAllowed else {
            throw TransportError(.addressRefused, "loading this URL is not allowed", address: address)
        }
    }
}
