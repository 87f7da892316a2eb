import AssetStorage
import Foundation
import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import MillstreamDownloads
import NIOCore
import PlaylistEditing
import PresentationLoading
import ReportFormat
import ResourceAddressing
import ServiceLifecycle

/// The routes of the web console and of its API.
struct ConsoleRoutes {
    let catalog: StreamCatalog
    let library: AssetLibrary
    let loader: ResourceLoader
    let downloads: DownloadQueue
    let broadcast: EventBroadcast
    let metrics: ServerMetrics
    let links: LinkRegistry
    let faults: FaultSettings
    let connections: ConnectionRegistry
    let capacity: ServerCapacity
    let workers: EditWorkers
    /// The reports about the library.
    let reader: LibraryReader
    /// The DASH presentations that are translated; `nil` to refuse manifests.
    let presentations: PresentationStore?
    /// The guard of the console and its API.
    let owner: OwnerAccess
    /// The secret with which the console signs playback addresses; `nil` if unsigned ones are admitted.
    let secret: ServerSecret?
    /// The signer of the addresses of media files.
    let signer: SegmentSigner
    /// The readiness of the storage without which live playlists cannot be edited.
    private let readiness: Readiness
    private let files = FileResponder()

    init(
        catalog: StreamCatalog,
        library: AssetLibrary,
        loader: ResourceLoader,
        downloads: DownloadQueue,
        broadcast: EventBroadcast,
        metrics: ServerMetrics,
        links: LinkRegistry,
        faults: FaultSettings = FaultSettings([]),
        connections: ConnectionRegistry,
        capacity: ServerCapacity,
        workers: EditWorkers,
        reader: LibraryReader,
        presentations: PresentationStore? = nil,
        owner: OwnerAccess = OwnerAccess(),
        secret: ServerSecret? = nil,
        signer: SegmentSigner,
        breaks: any BreakStore = MemoryBreakStore()
    ) {
        self.owner = owner
        self.signer = signer
        readiness = Readiness(breaks)
        self.secret = secret
        self.presentations = presentations
        self.capacity = capacity
        self.workers = workers
        self.reader = reader
        self.catalog = catalog
        self.library = library
        self.loader = loader
        self.downloads = downloads
        self.broadcast = broadcast
        self.metrics = metrics
        self.links = links
        self.faults = faults
        self.connections = connections
    }

    func add(to router: Router<ServerRequestContext>) {
        let console = router.group().add(middleware: PrivateAccess(allowsLinks: true)).add(middleware: owner)
        let restricted = router.group().add(middleware: PrivateAccess()).add(middleware: owner)
        console.get("") { request, context in try await page("index.html", request, context) }
        console.get("console/:name") { request, context in
            try await page(try context.parameters.require("name"), request, context)
        }
        router.get("health") { _, _ in
            try await readiness.verify()
            return Response.json(.fields(["status": .string("ok")]))
        }
        restricted.get("metrics") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(
                    byteBuffer: ByteBuffer(
                        string: metrics.text(
                            downloads: downloads.count,
                            listeners: broadcast.listenerCount,
                            connections: connections.connectionCount
                        )
                    )
                )
            )
        }
        let api = restricted.group("api")
        api.get("streams", use: streams)
        api.get("streams/:id/poster", use: poster)
        api.get("inspect", use: inspect)
        api.get("edits") { _, _ in Response.json(PlaylistEdit.report(limits: capacity.limits.editing)) }
        api.get("signing") { _, _ in Response.json(.fields(["required": .bool(secret != nil)])) }
        api.get("playback-address", use: playbackAddress)
        api.get("library") { _, _ in
            try await reader.response(with: .assets) { [downloads, library] check in
                let running = downloads.snapshot()
                let assets = try library.assets().map { asset in
                    try check()
                    return downloads.report(asset, running)
                }
                return .fields(["assets": .array(assets)])
            }
        }
        api.post("downloads", use: startDownload)
        api.delete("downloads/:id") { _, context in
            let id = try context.parameters.require("id")
            try await BlockingOperation.run { [downloads] in try downloads.end(id) }
            return Response(status: .noContent)
        }
        api.post("downloads/:id/pause") { _, context in
            let id = try context.parameters.require("id")
            try await BlockingOperation.run { [downloads] in try downloads.suspend(id) }
            return Response(status: .noContent)
        }
        api.post("downloads/:id/resume") { _, context in
            let id = try context.parameters.require("id")
            try await BlockingOperation.run { [downloads] in try downloads.resume(id) }
            return Response(status: .noContent)
        }
        api.delete("library/:id") { _, context in
            try await downloads.delete(try context.parameters.require("id"))
            return Response(status: .noContent)
        }
        StorageRoutes(library: library, broadcast: broadcast, reader: reader, capacity: capacity).add(to: api)
        api.get("conditions") { _, _ in Response.json(links.report) }
        api.put("conditions", use: changeConditions)
        faults.add(to: api)
        api.get("events", use: events)
    }

    /// The time for which a playback address of the console is valid: a day, longer than most presentations.
    private static let addressValidity: Int64 = 86_400

    /// Responds with the playback address in the query, signed if the server admits only signed ones.
    @Sendable private func playbackAddress(
        _ request: Request,
        _ context: ServerRequestContext
    ) async throws -> Response {
        let query = QueryItems(request.uri.query)
        guard let text = query["address"] else {
            throw ServerError(.badRequest, "missing-address", "address must be a playback address")
        }
        var address = ResourceAddress(text)
        let expires = UnixSeconds(UnixSeconds.now.rawValue +| Self.addressValidity)
        // Browsers take the file behind a redirect for a playlist, because of the name of the first address.
        let playback = QueryItems(address.query)
        if address.path == "/play.m3u8", try await isMediaFile(playback, kind: query["kind"]),
            let file = try SegmentAddress(
                mediaFileIn: playback,
                limits: capacity.limits.editing,
                expiry: secret.map { _ in AddressExpiry(expires) },
                isKnownFile: true
            )
        {
            return Response.json(.fields(["address": .string(file.path(signedBy: signer))]))
        }
        if let secret {
            do {
                address = try secret.signedAddress(address, expires: expires)
            } catch {
                throw ServerError(.badRequest, error.code.rawValue, error.description)
            }
        }
        return Response.json(.fields(["address": .string(address.text)]))
    }

    /// Returns a Boolean value that indicates whether a playback request names a media file, by the kind that the client knows,
    /// otherwise by the content of the source.
    private func isMediaFile(_ playback: QueryItems, kind: String?) async throws -> Bool {
        if let kind { return kind == StreamCatalog.Stream.Kind.file.rawValue }
        guard let source = playback["url"].map({ ResourceAddress($0) }), source.isHTTP else { return false }
        let budget = try capacity.admit()
        defer { withExtendedLifetime(budget) {} }
        do {
            return try await ClientPresence.whileClientIsConnected { [loader] in
                try await loader.isProbableMediaFile(at: source)
            }
        } catch is TransportError {
            // The player is told that the source may not be loaded.
            return StreamCatalog.Stream.isMediaFile(source)
        }
    }

    /// The content security policy of the console: its own resources, and media from any origin, since it plays all
    /// streams.
    private static let contentSecurityPolicy =
        "default-src 'self'; img-src 'self' data:; media-src * blob:; object-src 'none'; base-uri 'none'; "
        + "frame-ancestors 'none'; form-action 'self'"

    private func page(_ name: String, _ request: Request, _ context: ServerRequestContext) async throws -> Response {
        // ``TargetGuard`` has refused names that lead out of the folder.
        guard let folder = Bundle.module.url(forResource: "Console", withExtension: nil) else {
            throw ServerError(.notFound, "not-found", "not found")
        }
        let file = try await BlockingOperation.run { ContainedFile([name], in: folder.path) }
        var response = try files.respond(
            file,
            named: name,
            to: request,
            cacheControl: "no-cache"
        )
        response.headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
        // Without a referrer, requests over plain HTTP cannot be recognized as coming from this page.
        response.headers[.referrerPolicy] = "same-origin"
        return response
    }

    @Sendable private func streams(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let storedAssetIDs = try await BlockingOperation.run { [library] in try library.identifiersBySource() }
        let reports = catalog.streams.map { stream in
            let request = PlaybackRequest(
                source: stream.address,
                plan: stream.edits,
                delivery: .redirect,
                variables: [:]
            )
            return ReportValue.fields([
                "id": .string(stream.id),
                "name": .string(stream.name),
                "url": .string(stream.address.text),
                "kind": .string(stream.kind.rawValue),
                "detail": stream.detail.map { .string($0) },
                "channel": .bool(stream.isChannel),
                "edits": .array(
                    stream.edits.edits.map { edit in
                        .fields([
                            "name": .string(edit.definition.name),
                            "value": edit.definition.parameter == nil ? nil : .string(edit.value),
                        ])
                    }
                ),
                "address": .string(request.path),
                "manifestAddress": request.manifestPath.map { .string($0) },
                "poster": stream.poster.map { _ in .string("/api/streams/\(stream.id)/poster") },
                "advertisement": .bool(stream.isAdvertisement),
                // A downloaded asset is the stream without edits.
                "asset": stream.edits.edits.isEmpty ? storedAssetIDs[stream.address.text].map { .string($0) } : nil,
            ])
        }
        return .json(.fields(["streams": .array(reports)]))
    }

    /// The maximum size of a poster image that is forwarded.
    private static let posterLimit = ByteCount(8 << 20)

    @Sendable private func poster(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let id = try context.parameters.require("id")
        guard let poster = catalog.streams.first(where: { $0.id == id })?.poster else {
            throw ServerError(.notFound, "not-found", "the stream \(id) has no poster image")
        }
        let loaded = try await ClientPresence.whileClientIsConnected { [loader] in
            try await loader.load(TransportRequest(poster, kind: .other), limit: Self.posterLimit)
        }
        let type =
            loaded.contentType
            ?? FileResponder.mediaType(String(poster.lastPathComponent.split(separator: ".").last ?? ""))
        // An HTML page or an SVG that is labeled as an image could run scripts as part of the console.
        guard let name = FileResponder.mediaTypeName(type), name.hasPrefix("image/"), !name.hasPrefix("image/svg")
        else {
            throw ServerError(.badGateway, "wrong-content", "the poster of \(id) is not an image")
        }
        return Response(
            status: .ok,
            headers: [.contentType: name, .cacheControl: "private, max-age=600"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: loaded.bytes))
        )
    }

    @Sendable private func inspect(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        guard let url = QueryItems(request.uri.query)["url"], ResourceAddress(url).isHTTP else {
            throw ServerError(.badRequest, "missing-url", "url has to be an http or https address")
        }
        let budget = try capacity.admit()
        let isMediaFile = try await ClientPresence.whileClientIsConnected { [loader] in
            try await loader.isMediaFile(at: ResourceAddress(url))
        }
        guard !isMediaFile else {
            return .json(.fields(["kind": .string(StreamCatalog.Stream.Kind.file.rawValue)]))
        }
        let handler = PlaybackRequestHandler(
            loader: loader,
            budget: budget,
            workers: workers,
            presentations: presentations
        )
        let report = try await ClientPresence.whileClientIsConnected {
            try await handler.report(of: ResourceAddress(url))
        }
        return .json(report, budget: budget)
    }

    @Sendable private func startDownload(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: 64 << 10)
        let order = try DownloadOrder(parsing: Array(body.readableBytesView))
        let id = try await downloads.start(order.source, title: order.title, selection: order.selection)
        return .json(.fields(["id": .string(id)]), status: .accepted)
    }

    @Sendable private func changeConditions(
        _ request: Request,
        _ context: ServerRequestContext
    ) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: 64 << 10)
        try links.change(ConditionsOrder(parsing: Array(body.readableBytesView)))
        return .json(links.report)
    }

    @Sendable private func events(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let events = broadcast.events()
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                try await writer.write(ByteBuffer(string: "retry: 1000\nevent: hello\ndata: {}\n\n"))
                // A graceful shutdown waits for open responses. This response has no end, so it is ended at the
                // shutdown.
                for await event in events.cancelOnGracefulShutdown() {
                    try await writer.write(ByteBuffer(string: event.text))
                }
                try await writer.finish(nil)
            }
        )
    }
}
