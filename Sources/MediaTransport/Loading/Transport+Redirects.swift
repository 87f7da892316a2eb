import ResourceAddressing

extension Transport {
    /// Sends a request, and follows the redirects that the transport returns instead of following them itself.
    ///
    /// - Parameter request: The request.
    /// - Returns: A successful response.
    /// - Throws: ``TransportError``, also for a response with an unsuccessful status that the transport returned.
    func sendFollowingRedirects(_ request: TransportRequest) async throws -> TransportResponse {
        var request = request
        for _ in 0...20 {
            let response = try await send(request)
            let location = [301, 302, 303, 307, 308].contains(response.status) ? response.header("Location") : nil
            guard let location, !location.isEmpty else {
                guard (200...299).contains(response.status) || response.status == 304 else {
                    throw TransportError(
                        .status,
                        "the response has the status \(response.status)",
                        address: response.address,
                        status: response.status
                    )
                }
                return response
            }
            let target = response.address.resolving(location)
            // Header fields are for the origin of the request alone.
            if !target.hasOrigin(of: request.address) { request.headers = [] }
            request.address = target
        }
        throw TransportError(.badRedirect, "more than 20 redirects", address: request.address)
    }
}

extension ResourceAddress {
    /// Returns a Boolean value that indicates whether the scheme, host and port are those of another URL.
    fileprivate func hasOrigin(of other: ResourceAddress) -> Bool {
        normalizedScheme == other.normalizedScheme && host == other.host && port == other.port
    }
}
