public import ResourceAddressing

/// An error of a transport.
public struct TransportError: MillstreamError, Sendable {
    /// A short identifier of the kind of error, for logs and metrics.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The text of the code.
        public let rawValue: String

        /// Creates a code from its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The server responded with an unsuccessful status.
        public static let status = Code(rawValue: "http-status")
        /// The host name could not be resolved.
        public static let unknownHost = Code(rawValue: "unknown-host")
        /// Too many host names are being resolved.
        public static let tooManyLookups = Code(rawValue: "too-many-lookups")
        /// No connection could be established.
        public static let cannotConnect = Code(rawValue: "cannot-connect")
        /// No data was received within the time limit, or the throughput was too low.
        public static let timedOut = Code(rawValue: "timed-out")
        /// The connection was closed before the end of the body.
        public static let connectionLost = Code(rawValue: "connection-lost")
        /// The response does not match the request: wrong length, range, or type.
        public static let wrongContent = Code(rawValue: "wrong-content")
        /// The resource changed while it was being loaded.
        public static let contentChanged = Code(rawValue: "content-changed")
        /// The body is larger than the limit.
        public static let tooLarge = Code(rawValue: "too-large")
        /// There were too many redirects, a redirect loop, or a redirect without a target.
        public static let badRedirect = Code(rawValue: "bad-redirect")
        /// The URL cannot be loaded, or may not be loaded.
        public static let addressRefused = Code(rawValue: "address-refused")
        /// The cost of the network is not accepted for the request.
        public static let networkRefused = Code(rawValue: "network-refused")
        /// The file does not exist.
        public static let fileNotFound = Code(rawValue: "file-not-found")
        /// The file could not be read or written.
        public static let fileFailed = Code(rawValue: "file-failed")
        /// TLS failed, for example because the certificate is not trusted.
        public static let insecure = Code(rawValue: "tls-failed")
        /// The resource is a DASH manifest that cannot be read.
        public static let unreadableManifest = Code(rawValue: "unreadable-manifest")
        /// The resource is a DASH manifest with nothing that HLS can describe.
        public static let untranslatable = Code(rawValue: "untranslatable-presentation")
        /// The token that the request requires could not be obtained.
        public static let tokenUnavailable = Code(rawValue: "token-unavailable")
    }

    /// The kind of error.
    public let code: Code
    /// A message for the user: what happened, and what to do.
    public let message: String
    /// The URL of the request.
    public let address: ResourceAddress?
    /// The HTTP status, if a response was received.
    public let status: Int?
    /// The time that the server requests to wait before a retry (`Retry-After`).
    public let retryAfter: Duration?
    /// The numeric address and port of the server, if it responded.
    public var serverAddress: String?
    /// A Boolean value that indicates whether configured header fields were not sent because they are for other hosts.
    ///
    /// After a status of 401 or 403, the server may require one of these fields.
    public var hasOmittedHeaderFields = false
    /// The explanation of an unsuccessful status in the body of the response, as the server of this package gives it; `nil` if
    /// there is none.
    ///
    /// It is text from the server, at most 4 KiB, and no part of ``message``.
    package internal(set) var explanation: String?
    /// The error of the underlying library; `nil` if there is none.
    public var cause: (any Error)?
    /// A Boolean value that indicates whether a document has taken longer than ``RecoveryPolicy/DocumentTimeLimit``, so
    /// that its request is not repeated.
    package internal(set) var exceedsDocumentTime = false
    /// The header fields of the response; the values of fields with the same name are joined with commas.
    public var headerFields: [String: String] = [:]

    /// Creates an error.
    public init(
        _ code: Code,
        _ message: String,
        address: ResourceAddress? = nil,
        status: Int? = nil,
        retryAfter: Duration? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.address = address
        self.status = status
        self.retryAfter = retryAfter
        self.cause = cause
    }
}

extension TransportError {
    /// Returns the error with another URL.
    func at(_ address: ResourceAddress) -> TransportError { replacing(message: message, address: address) }

    /// Returns the error of the last of several attempts, whose message has the number of attempts.
    func after(attempts: Int) -> TransportError {
        replacing(message: "\(message), after \(attempts) attempts", address: address)
    }

    private func replacing(message: String, address: ResourceAddress?) -> TransportError {
        var error = TransportError(
            code,
            message,
            address: address,
            status: status,
            retryAfter: retryAfter,
            cause: cause
        )
        error.serverAddress = serverAddress
        error.hasOmittedHeaderFields = hasOmittedHeaderFields
        error.explanation = explanation
        error.exceedsDocumentTime = exceedsDocumentTime
        error.headerFields = headerFields
        return error
    }
}

extension TransportError {
    /// The message for the user, with the URL unless the message contains it.
    public var description: String {
        guard let address, !message.contains(address.description),
            address.filePath.map({ !message.contains($0) }) ?? true
        else { return message }
        return "\(message): \(address)"
    }
}

extension TransportError.Code: ErrorCode {
    /// The codes of this version.
    public static let allCases: [Self] = [
        .status, .unknownHost, .tooManyLookups, .cannotConnect, .timedOut, .connectionLost, .wrongContent,
        .contentChanged, .tooLarge, .badRedirect, .addressRefused, .networkRefused, .fileNotFound, .fileFailed,
        .insecure, .unreadableManifest, .untranslatable, .tokenUnavailable,
    ]

    /// The code of the corresponding error of AVFoundation.
    public var number: Int? {
        switch self {
        case .unknownHost, .cannotConnect, .timedOut, .connectionLost: -11_863
        case .addressRefused, .networkRefused: -11_862
        case .status, .wrongContent, .contentChanged, .tooLarge, .badRedirect, .fileNotFound, .fileFailed, .insecure,
            .tokenUnavailable:
            -11_849
        case .unreadableManifest: -11_853
        case .untranslatable: -11_833
        default: nil
        }
    }
}
