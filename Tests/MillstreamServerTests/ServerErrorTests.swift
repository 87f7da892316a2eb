import AssetStorage
import HLSPlaylist
import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import MediaTransport
import NIOCore
import PlaylistEditing
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamDownloads
@testable import MillstreamServer

/// Tests the status, code and hint of the response to each kind of error.
@Suite struct ServerErrorTests {
    private func expect(
        _ error: any Error,
        _ status: HTTPResponse.Status,
        _ code: String,
        _ message: String,
        hint: String? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let failure = ServerError(error)
        #expect(failure.status == status, sourceLocation: location)
        #expect(failure.code == code, sourceLocation: location)
        #expect(failure.message == message, sourceLocation: location)
        #expect(failure.hint == hint, sourceLocation: location)
    }

    @Test func serverErrorIsUnchanged() {
        expect(
            ServerError(.conflict, "code", "message", hint: "hint"),
            .conflict,
            "code",
            "message",
            hint: "hint"
        )
    }

    @Test func editErrorsAreClientErrors() {
        expect(
            PlaylistEditError.tooLarge(.byteCount(7)),
            .contentTooLarge,
            "playlist-too-large",
            PlaylistEditError.tooLarge(.byteCount(7)).description
        )
        for error: PlaylistEditError in [.tooManyEdits(maximum: 3), .tooManySources(maximum: 1)] {
            expect(error, .contentTooLarge, error.code.rawValue, error.description)
        }
        for error: PlaylistEditError in [
            .nothingLeft(filter: "max-height=1", available: ["360"]), .unknownEdit("x"),
            .invalidValue(edit: "start", value: "x", expected: "a time"),
            .wrongKind(edit: "start", expected: "media"), .timeOutside(edit: "start", time: "9", duration: "8"),
            .cannotStitch(reason: "no"), .unwritableAddress("x\n"),
            .unwritableVariable(name: "a", tag: "EXT-X-MEDIA"), .unreadableResult(edit: "start", reason: "empty"),
        ] {
            expect(error, .badRequest, error.code.rawValue, error.description)
        }
        let formats = PlaylistEditError.mapCannotEnd(at: ResourceAddress("https://h/a.m3u8"), after: nil)
        expect(
            formats,
            .badRequest,
            "cannot-stitch",
            formats.description,
            hint: "choose sources whose segments have the same format, or let those without EXT-X-MAP come first"
        )
    }

    private static func allowHint(_ host: String) -> String {
        "to let it load from there, start millstream serve again with --allow-host \(host) added to its options; "
            + "it then loads only from hosts that these options or the catalog name"
    }

    @Test func transportErrorsAreGatewayErrors() {
        for code: TransportError.Code in [
            .status, .unknownHost, .cannotConnect, .timedOut, .connectionLost, .wrongContent, .contentChanged,
            .badRedirect, .networkRefused, .fileNotFound, .insecure,
        ] {
            expect(TransportError(code, "failed"), .badGateway, code.rawValue, "failed")
        }
        expect(TransportError(.tooLarge, "failed"), .contentTooLarge, "too-large", "failed")
        expect(
            TransportError(.addressRefused, "failed"),
            .forbidden,
            "address-refused",
            "failed",
            hint: Self.allowHint("HOST")
        )
        expect(
            TransportError(.addressRefused, "failed", address: ResourceAddress("http://name:word@h/a.m3u8")),
            .forbidden,
            "address-refused",
            "failed: http://h/a.m3u8",
            hint: "URLs of requests cannot have a user name and password; write them in the URL of the catalog, or add "
                + "--header-for 'http://h Authorization: …' to the options of millstream serve"
        )
        expect(
            TransportError(.tooManyLookups, "failed"),
            .serviceUnavailable,
            "too-many-lookups",
            "failed",
            hint: "wait a moment and try again"
        )
    }

    @Test(
        arguments: [
            (401, "https://cdn.example/a", "cdn.example"), (403, "https://cdn.example/a", "cdn.example"),
            (401, "https://cdn.example:443/a", "cdn.example"), (401, "https://cdn.example:80/a", "cdn.example:80"),
            (401, "http://cdn.example/a", "http://cdn.example"),
            (401, "HTTP://cdn.example:80/a", "http://cdn.example"),
            (401, "http://cdn.example:443/a", "http://cdn.example:443"),
            (401, "https://[2001:db8::1]:8443/", "[2001:db8::1]:8443"), (402, "https://cdn.example/a", nil),
            (nil, "https://cdn.example/a", nil), (401, nil, nil), (401, "file:///a", nil), (401, "x://host/a", nil),
        ] as [(Int?, String?, String?)]
    )
    func authorizationErrorWithWithheldFieldsHasAHint(status: Int?, address: String?, origin: String?) {
        let position = address.map { ResourceAddress($0) }
        var error = TransportError(.status, "refused", address: position, status: status)
        #expect(error.withheldHeaderFieldsHint == nil && ServerError(error).hint == nil)
        error.hasOmittedHeaderFields = true
        let hint = origin.map {
            "header fields go only to the origin that they were given for; "
                + "--header-for '\($0) Name: value' sends one to this host too"
        }
        let serverHint = origin.map {
            "header fields go only to the origin that they were given for; to send one to this host too, add "
                + "--header-for '\($0) Name: value' to the options of millstream serve"
        }
        #expect(error.withheldHeaderFieldsHint == hint)
        #expect(ServerError(error).hint == serverHint)
        #expect(ServerError(DownloadError(error)).hint == serverHint)
    }

    /// The specific hint is not replaced by the hint about header fields.
    @Test func hintOfARefusedAddressTakesPrecedence() {
        var error = TransportError(
            .addressRefused,
            "refused",
            address: ResourceAddress("https://cdn.example/a"),
            status: 403
        )
        error.hasOmittedHeaderFields = true
        #expect(ServerError(error).hint == Self.allowHint("cdn.example"))
        #expect(ServerError(DownloadError(error)).hint == Self.allowHint("cdn.example"))
    }

    @Test func storageErrorsAreMappedByCode() {
        for (code, status) in [
            (.notFound, .notFound), (.busy, .conflict), (.incomplete, .conflict), (.damaged, .internalServerError),
            (.disk, .internalServerError), (.cannotOpen, .internalServerError),
        ] as [(StorageError.Code, HTTPResponse.Status)] {
            expect(StorageError(code, "failed"), status, code.rawValue, "failed")
        }
    }

    @Test func downloadErrorsAreMappedByCode() {
        for (code, status) in [
            (.live, .conflict), (.contentProtected, .conflict), (.nothingSelected, .badRequest),
            (.notAPlaylist, .badRequest), (.tooLarge, .contentTooLarge),
        ] as [(DownloadError.Code, HTTPResponse.Status)] {
            expect(
                DownloadError(code, "failed", hint: "hint", detail: "detail"),
                status,
                "detail",
                "failed",
                hint: "hint"
            )
        }
        // The options of the command line are of no use in the console.
        expect(
            DownloadError(.tooLarge, "failed", hint: DownloadError.sizeLimitHint, detail: "detail"),
            .contentTooLarge,
            "detail",
            "failed",
            hint: "select a lower download quality, or use a terminal: millstream download URL --max-size SIZE"
        )
        expect(DownloadError(TransportError(.timedOut, "failed")), .badGateway, "timed-out", "failed")
        expect(
            DownloadError(TransportError(.addressRefused, "failed")),
            .forbidden,
            "address-refused",
            "failed",
            hint: Self.allowHint("HOST")
        )
        expect(DownloadError(StorageError(.busy, "failed")), .conflict, "asset-busy", "failed")
        expect(DownloadError(StorageError(.full, "failed")), .internalServerError, "disk-full", "failed")
    }

    @Test func otherErrorsAreServerErrors() {
        struct Unexpected: Error {}
        expect(HTTPError(.contentTooLarge, message: "too long"), .contentTooLarge, "http", "too long")
        expect(HTTPError(.notFound), .notFound, "http", "Not Found")
        expect(
            NIOTooManyBytesError(maxBytes: 9),
            .contentTooLarge,
            "body-too-large",
            "the body of the request is too large"
        )
        expect(Unexpected(), .internalServerError, "internal", "the server failed (Unexpected)")
    }

    @Test func errorResponseIsUncacheableJSON() async throws {
        let response = ServerError(.conflict, "code", "\"message\"", hint: "hint").response
        #expect(response.status == .conflict)
        #expect(
            response.headers
                == [
                    .contentType: "application/json; charset=utf-8", .cacheControl: "no-store",
                    .contentLength: "\(response.body.contentLength ?? 0)",
                ]
        )
        let body = try await response.body.recorded()
        #expect(body.text == #"{"error":{"code":"code","message":"\"message\"","hint":"hint"}}"# && body.isFinished)
        let busy = ServerError(.serviceUnavailable, "busy", "wait").response
        #expect(busy.headers[.retryAfter] == "1")
        #expect(try await busy.body.recorded().text == #"{"error":{"code":"busy","message":"wait"}}"#)
    }
}

@Suite struct ResponseTests {
    @Test func reportsAreSentAsJSON() async throws {
        let response = Response.json(.fields(["a": .integer(1)]), status: .accepted)
        #expect(response.status == .accepted)
        #expect(
            response.headers == [
                .contentType: "application/json; charset=utf-8", .cacheControl: "no-store", .contentLength: "7",
            ]
        )
        #expect(try await response.body.recorded().text == #"{"a":1}"#)
        #expect(Response.json(.fields([:])).status == .ok)
    }

    @Test func serializedReportsAreSentAsJSON() async throws {
        let budget = try ServerCapacity(ServerLimits()).admit()
        let response = Response.json(Array("{}".utf8), budget: budget)
        #expect(response.status == .ok)
        #expect(
            response.headers == [
                .contentType: "application/json; charset=utf-8", .cacheControl: "no-store", .contentLength: "2",
            ]
        )
        #expect(try await response.body.recorded().text == "{}")
    }

    @Test func playlistsMustBeRevalidated() async throws {
        let response = Response.playlist(ByteBuffer(string: "#EXTM3U\n"), holding: nil)
        #expect(response.status == .ok)
        #expect(
            response.headers == [
                .contentType: "application/vnd.apple.mpegurl", .cacheControl: "no-cache", .contentLength: "8",
            ]
        )
        #expect(try await response.body.recorded().text == "#EXTM3U\n")
    }

    @Test(arguments: [
        (0, []), (1, [1]), (65_535, [65_535]), (65_536, [65_536]), (65_537, [65_536, 1]),
        (131_073, [65_536, 65_536, 1]),
    ])
    func longBodiesAreWrittenInChunks(count: Int, pieces: [Int]) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let body = ResponseBody(chunks: ByteBuffer(bytes: bytes), holding: nil)
        #expect(body.contentLength == count)
        let recorded = try await body.recorded()
        #expect(recorded.chunkSizes == pieces && recorded.bytes == bytes && recorded.isFinished)
    }

    @Test func budgetIsReleasedWithTheBody() async throws {
        let work = ServerCapacity(ServerLimits())
        var body: ResponseBody? = ResponseBody(
            chunks: ByteBuffer(bytes: [1, 2]),
            holding: try work.admit()
        )
        #expect(work.pendingRequests == 1)
        _ = try await body?.recorded()
        body = nil
        #expect(work.pendingRequests == 0)
    }
}

/// Tests the responses to errors that a handler throws.
@Suite struct ErrorResponsesTests {
    private struct Unexpected: Error {}

    private func response(to error: any Error, _ lines: RecordingLogHandler.Lines) async throws -> Response {
        let context = BasicRequestContext.detached(logger: Logger(label: "test") { _ in RecordingLogHandler(lines) })
        return try await ErrorResponses<BasicRequestContext>().handle(.get("/x?token=1"), context: context) { _, _ in
            throw error
        }
    }

    @Test func onlyServerErrorsAreLogged() async throws {
        let lines = RecordingLogHandler.Lines()
        let refused = try await response(to: ServerError(.notFound, "not-found", "nothing"), lines)
        #expect(refused.status == .notFound && lines.all.isEmpty)
        let failed = try await response(to: Unexpected(), lines)
        #expect(failed.status == .internalServerError)
        #expect(lines.all == ["error: request failed error=Unexpected() path=/x"])
    }

    @Test func cancellationIsNotAnswered() async {
        await #expect(throws: CancellationError.self) { try await response(to: CancellationError(), .init()) }
    }

    @Test func requestsAreCountedByStatus() async throws {
        let metrics = ServerMetrics()
        let counting = RequestCounting<BasicRequestContext>(metrics: metrics)
        for status in [HTTPResponse.Status.ok, .ok, .notFound] {
            let response = try await counting.handle(.get("/segment/a?x=1"), context: .detached()) { _, _ in
                Response(status: status)
            }
            #expect(response.status == status)
        }
        let text = metrics.text(downloads: 0, listeners: 0, connections: 0)
        #expect(text.contains("{area=\"segment\",status=\"200\"} 2\n"))
        #expect(text.contains("{area=\"segment\",status=\"404\"} 1\n"))
    }
}
