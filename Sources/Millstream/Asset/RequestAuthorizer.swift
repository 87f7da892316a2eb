public import MediaTransport

/// An object that signs the requests of an asset, and renews its credentials when they expire.
///
/// Set ``AssetOptions/authorizer``. The methods are called on any task; several requests can be signed at the same time.
/// A method that does not return within ``responseTimeLimit`` is canceled; the player does not wait for a method that
/// ignores the cancellation of its task.
public protocol RequestAuthorizer: AnyObject, Sendable {
    /// Returns a request with a signature in its URL or with header fields, called each time before a request is sent.
    ///
    /// The request can be to any host that the asset refers to. A header field in `headers` is not sent to another
    /// origin after a redirect. Parameters that are added to the query are not part of the URL of the resource, which is
    /// stored and logged.
    ///
    /// - Parameter request: The request.
    /// - Returns: The request to send.
    /// - Throws: An error, with which the request fails.
    func authorize(_ request: TransportRequest) async throws -> TransportRequest

    /// Renews the credentials after a response with status 401 or 403.
    ///
    /// If several requests fail at the same time, the method is called once, and the other requests wait for it.
    /// Afterward every failed request is authorized again and sent once more. New credentials are used even if the
    /// method returns after its request was canceled, or after ``responseTimeLimit``.
    ///
    /// - Parameter error: The error of the request.
    /// - Returns: A Boolean value that indicates whether there are new credentials.
    /// - Throws: An error, with which the request fails.
    func renewCredentials(after error: TransportError) async throws -> Bool

    /// The time in which a method must return; 60 seconds by default, `nil` for no limit.
    ///
    /// A signature that is late fails with `TransportError.Code.timedOut`, and its request is repeated as after other
    /// timeouts. After a renewal that is late, the request fails with the status 401 or 403.
    ///
    /// Increase it if the user has to enter credentials.
    var responseTimeLimit: Duration? { get }
}

extension RequestAuthorizer {
    /// Returns the request unchanged.
    public func authorize(_ request: TransportRequest) async throws -> TransportRequest { request }

    /// Returns `false`: there are no new credentials.
    public func renewCredentials(after error: TransportError) async throws -> Bool { false }

    /// 60 seconds.
    public var responseTimeLimit: Duration? { .seconds(60) }
}

/// A reference to an authorizer that is compared by identity.
struct AuthorizerReference: Sendable, Hashable {
    let authorizer: any RequestAuthorizer

    static func == (first: AuthorizerReference, second: AuthorizerReference) -> Bool {
        first.authorizer === second.authorizer
    }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(authorizer)) }
}
