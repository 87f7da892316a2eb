import AssetStorage
import Foundation
import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import NIOCore
import NetworkConditioning
import PlaylistEditing
import PresentationLoading
import ResourceAddressing
import StreamingEngine

/// The routes for edited playback, segments and downloaded assets.
struct MediaRoutes {
    let environment: PlaybackEnvironment
    let links: LinkRegistry
    /// The guard of the downloaded assets.
    let owner: OwnerAccess
    let faults: FaultSettings
    /// The repackager of segments for browsers without HLS; `nil` to refuse those that have another form than they take.
    let repackager: (any SegmentRepackager)?
    private let parts: PartStore
    private let playlists: PlaylistRoute
    private let packages: PackageRoute

    init(
        _ environment: PlaybackEnvironment,
        library: AssetLibrary,
        links: LinkRegistry,
        owner: OwnerAccess = OwnerAccess(),
        faults: FaultSettings,
        repackager: (any SegmentRepackager)? = nil,
        uses: PackageUses? = nil
    ) {
        self.environment = environment
        self.links = links
        self.owner = owner
        self.faults = faults
        self.repackager = repackager
        parts = PartStore(workers: environment.workers, capacity: environment.capacity)
        playlists = PlaylistRoute(environment, trustedProxies: owner.trustedProxies)
        packages = PackageRoute(
            environment,
            library: library,
            uses: uses ?? PackageUses(library),
            playlists: playlists
        )
    }

    func add(to router: Router<ServerRequestContext>) {
        // Media responses can be subject to link conditions; the console and the metrics never are.
        let conditioning = LinkConditioning<ServerRequestContext> { try link(for: $0) }
        let media = router.group().add(middleware: MediaAccess()).add(middleware: ErrorResponses())
        // The console, the metrics and the API never have simulated faults.
        let faulty = FaultInjection(faults)
        let signed = PlaybackSignature(signer: environment.playbackSigner)
        media.group().add(middleware: signed).add(middleware: conditioning)
            .add(middleware: faulty).get("play.m3u8", use: playlists.play).get("play.mpd", use: playlists.playManifest)
        // The signature is checked before the request can create a link.
        media.group().add(middleware: SegmentSignature(signer: environment.signer)).add(middleware: conditioning)
            .add(middleware: faulty).get("segment/:name", use: segment)
        for path: RouterPath in ["play.m3u8", "play.mpd", "segment/:name"] {
            media.on(path, method: .options) { _, _ in Response(status: .noContent) }
        }
        let owned = router.group().add(middleware: PrivateAccess()).add(middleware: owner)
            .add(middleware: ErrorResponses()).add(middleware: conditioning)
        owned.group().add(middleware: faulty).get("offline/:id/**", use: packages.respond)
        BrowserPlaybackRoutes(media: self, repackager: repackager).add(to: owned)
    }

    /// Returns the link for a response; `nil` for none.
    private func link(for request: Request) throws -> ConditionedLink? {
        guard !links.shared.profile.isPerfect || request.uri.string.contains("conditions") else { return nil }
        var (query, path) = (QueryItems(request.uri.query), request.uri.path)
        if path.hasPrefix(BrowserPlaybackRoutes.path) {
            let playback = try BrowserPlaybackRoutes.playbackAddress(query)
            (query, path) = (QueryItems(playback.query), playback.path)
        }
        let source = ResourceAddress(query["url"] ?? path)
        guard let named = LinkParameters(query, source: source) else {
            return links.shared.profile.isPerfect ? nil : links.shared
        }
        return try links.link(named.id, for: LinkRegistry.Stream(source: source, conditions: named.conditions))
    }

    /// Loads the playlist of a playback address for the player of the console, which has the access of the owner.
    ///
    /// - Parameters:
    ///   - address: The path and query of an address below `/play.m3u8` or `/offline`.
    ///   - context: The context of the request.
    ///   - budget: The budget of the request.
    /// - Returns: The playlist. The addresses in a multivariant playlist are those of this server after
    ///   ``BrowserPlaybackReport/base``, those in a media playlist the ones from which the media is loaded.
    /// - Throws: ``ServerError``, and the errors of loading and editing.
    func playlist(
        for address: ResourceAddress,
        _ context: ServerRequestContext,
        _ budget: RequestBudget
    ) async throws -> LoadedPlaylist {
        let served = PlaylistContext(address: ResourceAddress(BrowserPlaybackReport.base + address.text))
        let path = address.path
        if path.hasPrefix("/offline/") {
            return try await packages.loadPlaylist(at: path, query: address.query, served, context, budget)
        }
        guard path == "/play.m3u8" else {
            throw ServerError(.badRequest, "missing-address", "address must be a playback address of this server")
        }
        let playback = try PlaybackRequest(QueryItems(address.query), limits: environment.capacity.limits.editing)
        let loading = environment.sources.access(for: context.initiator).loading
        let session = LoadSession(
            memory: environment.sources.memory(for: context.initiator),
            loader: loading,
            capacity: environment.capacity
        )
        let handler = playlists.handler(context, budget, session: session)
        let playlist = try await ClientPresence.whileClientIsConnected {
            let bytes = try await handler.playlist(for: playback)
            return try await environment.workers.run { _ in
                try Playlist.parseUnlessCanceled(bytes, context: served).get()
            }
        }
        return LoadedPlaylist(playlist: playlist, loader: loading, package: nil)
    }

    @Sendable private func segment(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let (loading, policy, hosts) = environment.sources.access(for: context.initiator)
        let segment = try SegmentAddress(
            name: context.parameters.require("name"),
            query: QueryItems(request.uri.query),
            signer: environment.signer
        )
        if let key = EmbeddedKey(segment.target) { return key.response }
        let crossesLink = segment.link != nil || !links.shared.profile.isPerfect
        guard segment.delivery == .proxy || crossesLink else {
            guard !Self.isNavigation(request) else {
                throw ServerError(
                    .forbidden,
                    "not-a-page",
                    "segments are redirected for players, not for pages",
                    hint: "add segments=proxy to the address of the playlist"
                )
            }
            let redirection = environment.sources.redirection(for: context.initiator)
            // The redirection can wait for a token, and the policy for the addresses of a host.
            let (target, isAllowed) = try await ClientPresence.whileClientIsConnected { [named = segment.target] in
                let target = try await redirection(named)
                return (target, try await policy.allowsLoading(target, resolving: hosts))
            }
            guard isAllowed else {
                throw TransportError(.addressRefused, "this address may not be loaded", address: segment.target)
            }
            // HLS clients support 302 more widely than 307. The value of a header field has no spaces and line breaks.
            return Response(status: .found, headers: [.location: target.playlistText, .cacheControl: "no-cache"])
        }
        if let part = SegmentPart(of: segment.target) {
            return try await partial(part, named: segment.name, context.initiator.isForeign, loading)
        }
        if let clip = SubtitleClip(of: segment.target) {
            return try await clipped(segment.target, to: clip, loading)
        }
        return try await proxied(segment.target, request, context, loading)
    }

    /// Returns a part of a segment of a simulated channel, once it is published.
    private func partial(
        _ part: SegmentPart,
        named name: String,
        _ isForeign: Bool,
        _ loader: ResourceLoader
    ) async throws -> Response {
        let bytes = try await ClientPresence.whileClientIsConnected { [parts] in
            try await parts.bytes(of: part, isForeign: isForeign, loader)
        }
        let reservation = try environment.capacity.reservation(of: bytes.readableBytes)
        let type = FileResponder.safeMediaType(FileResponder.mediaType((name as NSString).pathExtension))
        return Response(
            status: .ok,
            headers: [.contentType: type, .cacheControl: "private, max-age=60"],
            body: ResponseBody(chunks: bytes, holding: reservation)
        )
    }

    /// Returns a WebVTT file without the cues outside a part of it.
    private func clipped(
        _ address: ResourceAddress,
        to clip: SubtitleClip,
        _ loader: ResourceLoader
    ) async throws -> Response {
        let budget = try environment.capacity.admit()
        let bytes = try await ClientPresence.whileClientIsConnected { [workers = environment.workers] in
            let loaded = try await clip.loadSubtitles(at: address, loader)
            try budget.editing.receive(loaded.count)
            return try await workers.run { _ in clip.clipped(loaded) }
        }
        let reservation = try environment.capacity.reservation(of: bytes.count)
        return Response(
            status: .ok,
            headers: [.contentType: "text/vtt", .cacheControl: "no-cache"],
            body: ResponseBody(contentLength: bytes.count) { writer in
                try await writer.write(ByteBuffer(bytes: bytes))
                try await writer.finish(nil)
                withExtendedLifetime(reservation) {}
            }
        )
    }

    /// Returns whether a browser would display the response as a page under an address of this server.
    private static func isNavigation(_ request: Request) -> Bool {
        guard let destination = request.headers[.secFetchDestination]?.lowercased() else {
            // Browsers send the field only to loopback addresses and over HTTPS, but accept XHTML in each navigation. Players do not.
            return request.headers[.accept]?.lowercased().contains("application/xhtml+xml") ?? false
        }
        return ["document", "embed", "fencedframe", "frame", "iframe", "object"].contains(destination)
    }

    private func proxied(
        _ address: ResourceAddress,
        _ request: Request,
        _ context: ServerRequestContext,
        _ loader: ResourceLoader
    ) async throws -> Response {
        let range = request.headers[.range]
        let validator = range == nil ? nil : request.headers[.ifRange]
        var key = SegmentMemory.Key(address: address.text, range: range, validator: validator)
        let segments = environment.sources.segments(for: context.initiator)
        // A segment in memory or in the disk cache is compared here; for any other, the origin decides whether the client has it.
        let isInMemory = segments.isLoaded(key)
        ClientPresence.current?.setCacheResult(.segment(isInMemory: isInMemory))
        if segments.forwardsConditions, !isInMemory {
            key.condition = ConditionalRequest(request.headers).forwardedField
        }
        let load: @Sendable (SegmentMemory.Key) async throws -> TransportResponse = { key in
            // The range is forwarded unchanged; the origin validates it.
            let address = ResourceAddress(key.address)
            let ranges = [("Range", key.range), ("If-Range", key.validator)].compactMap { name, value in
                value.map { HeaderField(name, $0) }
            }
            let fields = ranges + [key.condition].compactMap(\.self)
            let request = TransportRequest(address, kind: .segment, headers: fields)
            do {
                let response = try await loader.transport.send(request)
                guard let validator = key.validator, response.status == 206, !response.hasValidator(validator) else {
                    return response
                }
            } catch let error as TransportError where error.status == 416 && key.validator != nil {}
            // The origin has ignored the condition, and the client has bytes of another version.
            return try await loader.transport.send(TransportRequest(address, kind: .segment))
        }
        let response: TransportResponse
        do {
            response = try await ClientPresence.whileClientIsConnected { [key] in
                try await segments.response(to: key, load)
            }
        } catch let error as TransportError where error.status == 416 && range != nil && validator == nil {
            // All else is a failure of the origin: no other condition that it can refuse is forwarded.
            return Self.notSatisfiable(error)
        }
        guard response.status != 304, !ConditionalRequest(request.headers).hasContent(of: response) else {
            var headers: HTTPFields = [.cacheControl: Self.privateCaching(response.header("Cache-Control"))]
            headers[.eTag] = response.header("ETag")
            headers[.lastModified] = response.header("Last-Modified")
            return Response(status: .notModified, headers: headers)
        }
        return Self.forwarded(response, cacheControl: Self.privateCaching(response.header("Cache-Control")))
    }

    /// Returns the response to a request for a range that the origin does not have (RFC 9110 §15.5.17).
    private static func notSatisfiable(_ error: TransportError) -> Response {
        var headers: HTTPFields = [.acceptRanges: "bytes", .cacheControl: "no-cache"]
        headers[.contentRange] = error.headerFields.first { $0.key.lowercased() == "content-range" }?.value
        return Response(status: .rangeNotSatisfiable, headers: headers)
    }

    /// Returns a response of an origin as a response of this server.
    static func forwarded(_ response: TransportResponse, cacheControl: String) -> Response {
        var headers: HTTPFields = [:]
        for (name, ours) in forwardedHeaderFields {
            if let value = response.header(name) { headers[ours] = value }
        }
        headers[.contentType] = FileResponder.safeMediaType(headers[.contentType])
        headers[.cacheControl] = cacheControl
        let body = response.body
        return Response(
            status: HTTPResponse.Status(code: response.status),
            headers: headers,
            body: ResponseBody(contentLength: response.expectedLength.map { Int($0) }) { writer in
                var rest = response.expectedLength ?? .max
                for try await buffer in body where buffer.readableBytes > 0 {
                    // Bytes in excess of `Content-Length` would be taken for the next response.
                    rest -|= Int64(buffer.readableBytes)
                    guard rest >= 0 else {
                        throw TransportError(.wrongContent, "the response is longer than its Content-Length")
                    }
                    try await writer.write(buffer)
                }
                try await writer.finish(nil)
            }
        )
    }

    /// The header fields of an origin that are forwarded; those about the connection and cookies are not.
    private static let forwardedHeaderFields: [(String, HTTPField.Name)] = [
        ("Content-Type", .contentType), ("Content-Range", .contentRange), ("Accept-Ranges", .acceptRanges),
        ("ETag", .eTag), ("Last-Modified", .lastModified), ("Content-Encoding", .contentEncoding),
    ]

    /// Returns the value of `Cache-Control` for a proxied response.
    ///
    /// It permits private caching at most, since the server may have added header fields of its owner to the request.
    static func privateCaching(_ field: String?) -> String {
        let directives = (field ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " } }
        if directives.contains("no-store") { return "no-store" }
        let age = directives.first { $0.hasPrefix("max-age=") }.flatMap { Int($0.dropFirst("max-age=".count)) }
        guard let age, age >= 0, !directives.contains(where: { $0.hasPrefix("no-cache") }) else { return "no-cache" }
        return "private, max-age=\(age)" + (directives.contains("immutable") ? ", immutable" : "")
    }
}

/// A middleware that checks the signature of an address below `/segment` before the request is processed.
private struct SegmentSignature: RouterMiddleware {
    let signer: SegmentSigner

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let segment = try SegmentAddress(
            name: context.parameters.require("name"),
            query: QueryItems(request.uri.query),
            signer: signer
        )
        try segment.expiry?.verify(at: .now)
        return try await next(request, context)
    }
}

/// A middleware that checks the signature of a playback address before the request is processed.
private struct PlaybackSignature: RouterMiddleware {
    /// The signer; `nil` to admit all addresses.
    let signer: PlaybackSigner?

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        _ = try signer?.verify(QueryItems(request.uri.query), at: .now)
        return try await next(request, context)
    }
}

extension UnixSeconds {
    /// The current time.
    static var now: UnixSeconds { UnixSeconds(Int64(saturating: Date().timeIntervalSince1970)) }
}
