import Crypto
public import Foundation
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
public import ResourceAddressing

/// The credentials with which the owner of a server uses its console: a user name and a password, or a token.
public struct OwnerCredentials: Sendable {
    /// The minimum number of bytes of a password or token.
    public static let minimumLength = 12
    private static let maximumLength = 4_096

    /// The key of the hash `code`; it is random, so that the duration of a comparison reveals nothing.
    private let key: SymmetricKey
    private let code: HMAC<SHA256>.MAC
    /// A Boolean value that indicates whether the credentials are a user name and a password, which browsers request
    /// from the user.
    let isBasic: Bool
    /// A Boolean value that indicates whether other users of the machine can read the file of the credentials.
    public let isReadableByOthers: Bool

    /// An error about a file with credentials.
    public struct ReadingError: MillstreamError {
        /// The kind of the error.
        public enum Code: String, ErrorCode {
            /// The file has no usable credentials.
            case invalid = "invalid-credentials"
        }

        /// The kind of the error.
        public var code: Code { .invalid }
        /// The description of the error.
        public var message: String { description }
        /// The failure and the file that it concerns.
        public let description: String
    }

    /// Creates credentials from a text; `nil` if a part is too short or has control characters.
    ///
    /// - Parameters:
    ///   - text: `NAME:PASSWORD` for basic authentication (RFC 7617), any other text for a bearer token (RFC 6750).
    ///   - isReadableByOthers: A Boolean value that indicates whether other users can read the text.
    init?(_ text: String, isReadableByOthers: Bool = false) {
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        key = SymmetricKey(size: .bits256)
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        isBasic = parts.count == 2
        guard parts.last?.utf8.count ?? 0 >= Self.minimumLength, parts[0].utf8.count > 0 else { return nil }
        guard isBasic || !text.contains(" ") else { return nil }
        let value = isBasic ? "basic " + Data(text.utf8).base64EncodedString() : "bearer " + text
        code = HMAC<SHA256>.authenticationCode(for: Array(value.utf8), using: key)
        self.isReadableByOthers = isReadableByOthers
    }

    /// Creates credentials from the first line of a file.
    ///
    /// - Parameter file: The file, with `NAME:PASSWORD` for basic authentication or a token for bearer authentication. The
    ///   password or token has at least ``minimumLength`` bytes.
    /// - Throws: ``ReadingError``.
    public init(file: URL) throws(ReadingError) {
        let data: Data
        let mode: Int
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            data = try handle.read(upToCount: Self.maximumLength + 1) ?? Data()
            let attributes = try FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)
            mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
        } catch {
            throw ReadingError(
                description: "the credentials \(file.path) cannot be read (\(FileErrorText.reason(of: error)))"
            )
        }
        let line = String(decoding: data.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard data.count <= Self.maximumLength,
            let credentials = OwnerCredentials(line, isReadableByOthers: mode & 0o077 != 0)
        else {
            throw ReadingError(
                description:
                    "the first line of \(file.path) must be NAME:PASSWORD, or a token without spaces; passwords and tokens have at least \(Self.minimumLength) bytes"
            )
        }
        self = credentials
    }

    /// Returns whether the value of an `Authorization` header field is valid; the comparison takes constant time.
    func accept(_ field: String?) -> Bool {
        guard let field, let space = field.firstIndex(of: " ") else { return false }
        let value = field[..<space].lowercased() + " " + field[space...].drop { $0 == " " }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array(value.utf8), using: key)
    }

    /// The value of `WWW-Authenticate` in the response to a request without valid credentials.
    var challenge: String { isBasic ? "Basic realm=\"Millstream\", charset=\"UTF-8\"" : "Bearer realm=\"Millstream\"" }
}

/// The middleware of the routes for the owner of a server: the console, its API, the metrics and downloaded assets.
struct OwnerAccess: RouterMiddleware {
    /// The credentials that a request must have; `nil` for none.
    var credentials: OwnerCredentials?
    /// A Boolean value that indicates whether, without credentials, only requests from this machine are admitted.
    var requiresThisMachine = false
    /// The proxies whose header fields name the client.
    var trustedProxies: [TrustedProxy] = []
    /// The requests with wrong credentials.
    var attempts = FailedAttempts()

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        if let credentials {
            let client = trustedProxies.client(of: request, context)
            if let delay = attempts.delay(for: client) {
                var response = ServerError(
                    .tooManyRequests,
                    "too-many-attempts",
                    "this client has sent wrong credentials too often",
                    hint: "wait a minute"
                ).response
                response.headers[.retryAfter] = String(Int64(saturating: (delay / .seconds(1)).rounded(.up)))
                return response
            }
            guard credentials.accept(request.headers[.authorization]) else {
                var response = ServerError(
                    .unauthorized,
                    "unauthorized",
                    "this address requires the credentials of the owner"
                ).response
                response.headers[.wwwAuthenticate] = credentials.challenge
                // A browser sends its first request without credentials.
                if request.headers[.authorization] != nil { attempts.record(client) }
                return response
            }
        } else if requiresThisMachine, !Self.isFromThisMachine(request, context) {
            throw ServerError(
                .forbidden,
                "not-this-machine",
                "this address is for clients on the machine of the server",
                hint: "start the server with --console-credentials FILE to use it from elsewhere"
            )
        }
        return try await next(request, context)
    }

    /// Returns whether a request comes from this machine, and was not forwarded by a proxy that runs on it.
    private static func isFromThisMachine(_ request: Request, _ context: ServerRequestContext) -> Bool {
        let forwardingFields = ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"]
        let isForwarded = forwardingFields.contains { name in
            HTTPField.Name(name).map { request.headers[$0] != nil } ?? false
        }
        guard !isForwarded else { return false }
        // The address is unknown if the connection was closed in the meantime.
        return context.peer.map(\.isLoopback) ?? false
    }
}

extension HostAddress {
    /// A Boolean value that indicates whether the address is that of the loopback interface.
    fileprivate var isLoopback: Bool {
        let octets = unmapped.octets
        return octets.count == 4 ? octets[0] == 127 : octets.dropLast().allSatisfy { $0 == 0 } && octets.last == 1
    }
}
