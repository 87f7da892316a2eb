package import MediaTransport

extension TransportResponse {
    /// Creates the response of a transport for tests, with the status 200 and without header fields.
    ///
    /// - Parameters:
    ///   - request: The request, whose address is that of the response.
    ///   - expectedLength: The number of bytes that the response announces; `nil` if it announces none.
    ///   - body: The body.
    package init(to request: TransportRequest, expectedLength: Int64? = nil, body: TransportBody) {
        self.init(status: 200, headers: [], address: request.address, expectedLength: expectedLength, body: body)
    }
}
