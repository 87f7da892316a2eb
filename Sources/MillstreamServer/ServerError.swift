import AssetStorage
import HTTPTypes
import Hummingbird
package import MediaTransport
import MillstreamDownloads
import NIOCore
import NIOHTTP1
import PlaylistEditing
import ReportFormat
package import ResourceAddressing
import StreamingEngine

/// An error response, readable for programs and people.
struct ServerError: Error {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var hint: String?

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String, hint: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// Returns the response for a kind of client.
    ///
    /// The option `--allow-host`, which the hint of a refused address names, has no effect for the clients that receive public
    /// hosts only.
    func advising(_ initiator: RequestInitiator) -> ServerError {
        guard code == TransportError.Code.addressRefused.rawValue else { return self }
        var failure = self
        switch initiator {
        case .player, .ownPage: break
        case .foreignPage:
            failure.hint =
                "pages of other sites receive streams of public hosts only, whatever hosts --allow-host names; play the "
                + "stream in the web console, or in a player that is no page"
        case .foreignHost:
            failure.hint =
                "the Host of the request is not a name of this server, which then sends streams of public hosts only; use its "
                + "numeric address, or start it with --server-name NAME"
        }
        return failure
    }

    /// Creates the response to an error of this or another module.
    init(_ error: any Error) {
        switch error {
        case let error as ServerError: self = error
        case let error as PlaylistEditError:
            switch error {
            case .tooLarge, .tooManyEdits, .tooManySources:
                self.init(.contentTooLarge, error.code.rawValue, error.description)
            case .loadsTooMuch:
                self.init(
                    .contentTooLarge,
                    error.code.rawValue,
                    error.description,
                    hint: "start the server with --max-playlist-size MIB"
                )
            case .notStarted:
                self.init(.notFound, error.code.rawValue, error.description, hint: "try again when it has started")
            case .notPublished:
                self.init(.serviceUnavailable, error.code.rawValue, error.description, hint: "try again at this time")
            case .nothingLeft, .unknownEdit, .invalidValue, .wrongKind, .timeOutside, .cannotStitch, .mapCannotEnd,
                .unwritableAddress, .unwritableVariable, .unreadableResult, .invalidName:
                self.init(.badRequest, error.code.rawValue, error.description, hint: error.hint)
            case .failed: self.init(.internalServerError, error.code.rawValue, error.description)
            }
        case let error as TransportError:
            self.init(error, error.description)
        case let error as DownloadError: self.init(error)
        case let error as StreamingError: self.init(error)
        case let error as StorageError: self.init(Self.status(of: error), error.code.rawValue, error.message)
        case let error as HTTPError:
            self.init(error.status, "http", error.body ?? error.status.reasonPhrase)
        case is NIOTooManyBytesError:
            self.init(.contentTooLarge, "body-too-large", "the body of the request is too large")
        case is HTTPParserError:
            self.init(.badRequest, "malformed-request", "the body of the request is not valid HTTP")
        default: self.init(.internalServerError, "internal", "the server failed (\(type(of: error)))")
        }
    }

    private init(_ error: TransportError, _ message: String) {
        let code = error.code.rawValue
        switch error.code {
        case .tooManyLookups: self.init(.serviceUnavailable, code, message, hint: "wait a moment and try again")
        case .addressRefused where error.address?.authority?.contains("@") ?? false:
            // The policy refuses these URLs from every host, so that naming the host would change nothing.
            let scope = error.address?.headerFieldScope ?? "HOST"
            let hint =
                "URLs of requests cannot have a user name and password; write them in the URL of the catalog, or add "
                + "--header-for '\(scope) Authorization: …' to the options of millstream serve"
            self.init(.forbidden, code, message, hint: hint)
        case .addressRefused:
            self.init(.forbidden, code, message, hint: SourcePolicy.hint(forRefused: error.address))
        case .tooLarge: self.init(.contentTooLarge, code, message)
        case .untranslatable: self.init(.unsupportedMediaType, code, message)
        default: self.init(.badGateway, code, message)
        }
        if hint == nil, let origin = error.withheldHeaderFieldsOrigin {
            hint =
                "header fields go only to the origin that they were given for; to send one to this host too, add "
                + "--header-for '\(origin) Name: value' to the options of millstream serve"
        }
    }

    private init(_ error: StreamingError) {
        let message = Self.message(error.message, at: error.address)
        switch error.cause {
        case let cause as TransportError: self.init(cause, message)
        default: self.init(.badGateway, error.code.rawValue, message)
        }
    }

    /// Returns a message with the address that it concerns, unless it contains it.
    private static func message(_ text: String, at address: ResourceAddress?) -> String {
        guard let address, !text.contains(address.description) else { return text }
        return "\(text): \(address)"
    }

    private init(_ error: DownloadError) {
        switch error.cause {
        case let cause as TransportError: self.init(cause, error.message)
        case let cause as StorageError:
            // The request itself creates the asset of a download. If the asset is missing, the server has failed, not
            // the request.
            let status: HTTPResponse.Status = cause.code == .busy ? .conflict : .internalServerError
            self.init(status, error.detail, error.message)
        default:
            switch error.code {
            case .live, .contentProtected, .otherSelection:
                self.init(.conflict, error.detail, error.message, hint: error.consoleHint)
            case .nothingSelected, .notAPlaylist:
                self.init(.badRequest, error.detail, error.message, hint: error.consoleHint)
            case .tooLarge: self.init(.contentTooLarge, error.detail, error.message, hint: error.consoleHint)
            default: self.init(.internalServerError, error.detail, error.message)
            }
        }
    }

    private static func status(of error: StorageError) -> HTTPResponse.Status {
        switch error.code {
        case .notFound: .notFound
        case .busy, .incomplete: .conflict
        default: .internalServerError
        }
    }

    var report: ReportValue {
        .fields(["code": .string(code), "message": .string(message), "hint": hint.map { .string($0) }])
    }

    var response: Response {
        var response = Response.json(.fields(["error": report]), status: status)
        if status == .serviceUnavailable || status == .tooManyRequests { response.headers[.retryAfter] = "1" }
        return response
    }
}

extension Response {
    /// Returns a response with a report as JSON.
    static func json(_ value: ReportValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: value.json))
        )
    }

    /// Returns a response with a playlist, which must be revalidated since it changes with its source.
    ///
    /// - Parameters:
    ///   - bytes: The playlist.
    ///   - reservation: The capacity that the response holds until it is sent; `nil` for none.
    /// - Returns: The response.
    static func playlist(_ bytes: ByteBuffer, holding reservation: (any AnyObject & Sendable)?) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/vnd.apple.mpegurl", .cacheControl: "no-cache"],
            body: ResponseBody(chunks: bytes, holding: reservation)
        )
    }

    /// Returns a response with a report that is already encoded as JSON.
    ///
    /// - Parameters:
    ///   - bytes: The report.
    ///   - reservation: The capacity that the response holds until it is sent.
    /// - Returns: The response.
    static func json(_ bytes: ByteBuffer, holding reservation: any AnyObject & Sendable) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(chunks: bytes, holding: reservation)
        )
    }

    /// Returns a response with a report that is already encoded as JSON.
    static func json(_ bytes: [UInt8], budget: RequestBudget) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(chunks: ByteBuffer(bytes: bytes), holding: budget)
        )
    }
}

extension ServerError {
    /// The error for a request that a server which is being stopped no longer answers.
    static var stopping: ServerError {
        ServerError(.serviceUnavailable, "stopping", "the server is being stopped", hint: "try again in a moment")
    }
}

extension ResourceAddress {
    /// The host, with the port unless it is that of the scheme; `nil` without a host.
    fileprivate var hostAndPort: String? {
        guard let host, let port else { return nil }
        let isDefaultPort = port == (normalizedScheme == "https" ? 443 : 80)
        return (host.contains(":") ? "[\(host)]" : host) + (isDefaultPort ? "" : ":\(port)")
    }

    /// The origin in the form of `--header-for`; `nil` without a host.
    fileprivate var headerFieldScope: String? {
        hostAndPort.map { normalizedScheme == "http" ? "http://" + $0 : $0 }
    }
}

extension SourcePolicy {
    /// Returns the advice for the owner of a server whose policy has refused to load from an address.
    ///
    /// - Parameter address: The address; `nil` if it is not known.
    /// - Returns: The advice.
    package static func hint(forRefused address: ResourceAddress?) -> String {
        "to let it load from there, start millstream serve again with --allow-host \(address?.hostAndPort ?? "HOST") added to its "
            + "options; it then loads only from hosts that these options or the catalog name"
    }
}

extension DownloadError {
    /// The advice for a user of the console, who has no options of the command line.
    fileprivate var consoleHint: String? {
        switch code {
        case _ where hint == Self.sizeLimitHint:
            "select a lower download quality, or use a terminal: millstream download URL --max-size SIZE"
        case _ where detail == Self.notBegun: "try again when it has begun"
        default: hint
        }
    }
}

extension TransportError {
    /// The origin that refused a request which was sent without the owner's header fields; `nil` for other errors.
    fileprivate var withheldHeaderFieldsOrigin: String? {
        guard hasOmittedHeaderFields, status == 401 || status == 403 else { return nil }
        return address?.headerFieldScope
    }

    /// Advice for a refused request that was sent without the owner's header fields; `nil` for other errors.
    package var withheldHeaderFieldsHint: String? {
        guard let origin = withheldHeaderFieldsOrigin else { return nil }
        return "header fields go only to the origin that they were given for; "
            + "--header-for '\(origin) Name: value' sends one to this host too"
    }
}

extension ResponseBody {
    /// The size of the pieces in which long responses are written, in bytes.
    private static var chunkSize: Int { 64 << 10 }

    /// Creates a body that is written in pieces at the speed of the client, without a copy of all bytes.
    init(chunks bytes: ByteBuffer, holding reservation: (any AnyObject & Sendable)?) {
        self.init(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            while let chunk = rest.readSlice(length: min(Self.chunkSize, rest.readableBytes)), chunk.readableBytes > 0 {
                try await writer.write(chunk)
            }
            try await writer.finish(nil)
            withExtendedLifetime(reservation) {}
        }
    }
}
