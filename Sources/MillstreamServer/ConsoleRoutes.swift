import AssetStorage
import Foundation
import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import MillstreamDownloads
import NIOCore
import ReportFormat
import ResourceAddressing
import ServiceLifecycle

/// The routes of the web console and of its API.
struct ConsoleRoutes {
    let catalogue: StreamCatalogue
    let library: AssetLibrary
    let loading: ResourceLoading
    let desk: DownloadDesk
    let broadcast: EventBroadcast
    let metrics: ServerMetrics
    let links: LinkDesk
    let connections: ConnectionRegistry
    let work: WorkBudget
    let workers: EditWorkers
    private let files = FileResponder()

    init(
        catalogue: StreamCatalogue,
        library: AssetLibrary,
        loading: ResourceLoading,
        desk: DownloadDesk,
        broadcast: EventBroadcast,
        metrics: ServerMetrics,
        links: LinkDesk,
        connections: ConnectionRegistry,
        work: WorkBudget,
        workers: EditWorkers
    ) {
        self.work = work
        self.workers = workers
        self.catalogue = catalogue
        self.library = library
        self.loading = loading
        self.desk = desk
        self.broadcast = broadcast
        self.metrics = metrics
        self.links = links
        self.connections = connections
    }

    func add(to router: Router<ServerRequestContext>) {
        let console = router.group().add(middleware: PrivateAccess(allowsLinks: true))
        let restricted = router.group().add(middleware: PrivateAccess())
        console.get("") { request, context in try await page("index.html", request, context) }
        console.get("console/:name") { request, context in
            try await page(try context.parameters.require("name"), request, context)
        }
        router.get("health") { _, _ in Response.json(.fields(["status": .string("ok")])) }
        restricted.get("metrics") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(
                    byteBuffer: ByteBuffer(
                        string: metrics.text(
                            downloads: desk.count,
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
        api.get("library") { _, _ in
            Response.json(.fields(["assets": .array(try library.assets().map(desk.report))]))
        }
        api.post("downloads", use: startDownload)
        api.delete("downloads/:id") { _, context in
            desk.cancel(try context.parameters.require("id"))
            return Response(status: .noContent)
        }
        api.delete("library/:id") { _, context in
            try await desk.delete(try context.parameters.require("id"))
            return Response(status: .noContent)
        }
        api.get("conditions") { _, _ in Response.json(links.report) }
        api.put("conditions", use: changeConditions)
        api.get("events", use: events)
    }

    /// The content security policy of the console: its own resources, and media from any origin, since it plays all
    /// streams.
    private static let contentSecurityPolicy =
        "default-src 'self'; img-src 'self' data:; media-src * blob:; object-src 'none'; base-uri 'none'; "
        + "frame-ancestors 'none'; form-action 'self'"

    private func page(_ name: String, _ request: Request, _ context: ServerRequestContext) async throws -> Response {
        // ``TargetGuard`` has refused names that lead out of the folder.
        guard let folder = Bundle.module.url(forResource: "Console", withExtension: nil) else {
            throw ServerError(.notFound, "not-found", "there is nothing at this address")
        }
        var response = try await files.respond(
            folder.appendingPathComponent(name),
            to: request,
            context: context,
            cacheControl: "no-cache"
        )
        response.headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
        // Without a referrer, requests over plain HTTP cannot be recognized as coming from this page.
        response.headers[.referrerPolicy] = "same-origin"
        return response
    }

    @Sendable private func streams(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let kept = Dictionary(
            try library.assets().map { ($0.source.text, $0.id) },
            uniquingKeysWith: { first, _ in first }
        )
        let reports = catalogue.streams.map { stream in
            ReportValue.fields([
                "id": .string(stream.id),
                "name": .string(stream.name),
                "url": .string(stream.address.text),
                "kind": .string(stream.kind.rawValue),
                "detail": stream.detail.map { .string($0) },
                "poster": stream.poster.map { _ in .string("/api/streams/\(stream.id)/poster") },
                "advertisement": .bool(stream.isAdvertisement),
                "asset": kept[stream.address.text].map { .string($0) },
            ])
        }
        return .json(.fields(["streams": .array(reports)]))
    }

    /// The maximum size of a poster image that is forwarded.
    private static let posterLimit = ByteCount(8 << 20)

    @Sendable private func poster(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let id = try context.parameters.require("id")
        guard let poster = catalogue.streams.first(where: { $0.id == id })?.poster else {
            throw ServerError(.notFound, "not-found", "the stream \(id) has no picture")
        }
        let loaded = try await loading.load(TransportRequest(poster, kind: .other), limit: Self.posterLimit)
        let type =
            loaded.contentType
            ?? FileResponder.mediaType(String(poster.lastPathComponent.split(separator: ".").last ?? ""))
        // An HTML page or an SVG that is labeled as an image could run scripts as part of the console.
        guard type.lowercased().hasPrefix("image/"), !type.lowercased().hasPrefix("image/svg") else {
            throw ServerError(.badGateway, "wrong-content", "the picture of \(id) is no picture")
        }
        return Response(
            status: .ok,
            headers: [.contentType: type, .cacheControl: "private, max-age=600"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: loaded.bytes))
        )
    }

    @Sendable private func inspect(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        guard let url = QueryItems(request.uri.query)["url"], ResourceAddress(url).isHTTP else {
            throw ServerError(.badRequest, "missing-url", "url has to be an http or https address")
        }
        let budget = try work.admit()
        let editing = EditedPlayback(loading: loading, budget: budget, workers: workers)
        let report = try await ClientPresence.whileClientStays { try await editing.report(of: ResourceAddress(url)) }
        return .json(report, holding: budget)
    }

    private struct DownloadOrder: Decodable {
        let url: String
        let title: String?
        let variants: String?
        let maxHeight: Int?
    }

    @Sendable private func startDownload(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: 64 << 10)
        guard let order = try? JSONDecoder().decode(DownloadOrder.self, from: Data(body.readableBytesView)),
            ResourceAddress(order.url).isHTTP
        else { throw ServerError(.badRequest, "invalid-body", "the body has to hold url, an http or https address") }
        var selection = DownloadSelection()
        switch (order.variants, order.maxHeight) {
        case (_, let height?): selection.variants = .maximumHeight(height)
        case ("lowest", _): selection.variants = .lowest
        case ("all", _): selection.variants = .all
        case ("best", _), (nil, _): selection.variants = .best
        default: throw ServerError(.badRequest, "invalid-body", "variants is best, lowest or all")
        }
        let id = try await desk.start(ResourceAddress(order.url), title: order.title, selection: selection)
        return .json(.fields(["id": .string(id)]), status: .accepted)
    }

    private struct ConditionsOrder: Decodable {
        let conditions: String
        /// The source of a stream with its own conditions and the conditions in its address; both are absent for a
        /// change of the shared link.
        let url: String?
        let named: String?
    }

    @Sendable private func changeConditions(
        _ request: Request,
        _ context: ServerRequestContext
    ) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: 64 << 10)
        guard let order = try? JSONDecoder().decode(ConditionsOrder.self, from: Data(body.readableBytesView)),
            (order.url == nil) == (order.named == nil)
        else {
            throw ServerError(
                .badRequest,
                "invalid-body",
                "the body has to hold conditions, and url and named where they are for one stream"
            )
        }
        var id: String?
        if let url = order.url, let named = order.named {
            id = LinkDesk.identifier(LinkDesk.Stream(source: ResourceAddress(url), conditions: named))
        }
        try links.change(id, to: order.conditions)
        return .json(links.report)
    }

    @Sendable private func events(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let events = broadcast.events()
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                try await writer.write(ByteBuffer(string: "retry: 1000\nevent: hello\ndata: {}\n\n"))
                // A graceful shutdown waits for open responses, and this one would never end.
                for await event in events.cancelOnGracefulShutdown() {
                    try await writer.write(ByteBuffer(string: event.text))
                }
                try await writer.finish(nil)
            }
        )
    }
}
