public import ResourceAddressing

/// Why bytes did not come.
public struct TransportError: Error, Sendable {
    /// What went wrong, in a bounded set of short spellings that logs and metrics can count.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The spelling.
        public let rawValue: String

        /// Makes a code of a spelling.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The server answered with a status that is no success.
        public static let status = Code(rawValue: "http-status")
        /// The server's name could not be resolved.
        public static let unknownHost = Code(rawValue: "unknown-host")
        /// Too many host names are being resolved already.
        public static let tooManyLookups = Code(rawValue: "too-many-lookups")
        /// No connection could be made.
        public static let cannotConnect = Code(rawValue: "cannot-connect")
        /// Nothing came for too long.
        public static let timedOut = Code(rawValue: "timed-out")
        /// The connection ended before the body did.
        public static let connectionLost = Code(rawValue: "connection-lost")
        /// The body is not the one that was asked for: another length, another range, another type.
        public static let wrongContent = Code(rawValue: "wrong-content")
        /// The resource is another one than when its loading began.
        public static let contentChanged = Code(rawValue: "content-changed")
        /// The body is larger than what was allowed.
        public static let tooLarge = Code(rawValue: "too-large")
        /// More redirects than allowed, or one that leads nowhere.
        public static let badRedirect = Code(rawValue: "bad-redirect")
        /// The address is none that can be loaded, or may not be.
        public static let addressRefused = Code(rawValue: "address-refused")
        /// The network costs more than was allowed for this.
        public static let networkRefused = Code(rawValue: "network-refused")
        /// The file is not there.
        public static let fileNotFound = Code(rawValue: "file-not-found")
        /// The file could not be read or written.
        public static let fileFailed = Code(rawValue: "file-failed")
        /// TLS failed: a certificate that nobody vouches for, say.
        public static let insecure = Code(rawValue: "tls-failed")
    }

    /// What went wrong.
    public let code: Code
    /// What happened and what to do, for people.
    public let message: String
    /// The address that was asked for.
    public let address: ResourceAddress?
    /// The status of HTTP, where one came.
    public let status: Int?
    /// How long the server asks to wait before the next try.
    public let retryAfter: Duration?
    /// The numeric address of the server with its port, where it answered.
    public var serverAddress: String?
    /// A Boolean value that indicates whether header fields were given that were not sent, because they are for other hosts.
    ///
    /// After a status of 401 or 403 they may be what the server asks for.
    public var hasWithheldHeaderFields = false
    /// The header fields of the answer; of several of one name, their values with commas between.
    public var headerFields: [String: String] = [:]

    /// Makes an error.
    public init(
        _ code: Code,
        _ message: String,
        address: ResourceAddress? = nil,
        status: Int? = nil,
        retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.address = address
        self.status = status
        self.retryAfter = retryAfter
    }
}

extension TransportError: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String {
        guard let address, !message.contains(address.description),
            address.filePath.map({ !message.contains($0) }) ?? true
        else { return message }
        return "\(message): \(address)"
    }
}
