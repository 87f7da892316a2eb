import AssetStorage
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import NIOCore
import ReportFormat

/// The routes of the console API about the disk space of the library, its sizes, storage policies and eviction, and about the
/// artwork of assets.
struct StorageRoutes {
    let library: AssetLibrary
    let broadcast: EventBroadcast
    /// The reports about the library.
    let reader: LibraryReader
    /// The capacity for images that are sent.
    let capacity: ServerCapacity

    /// Adds the routes to the group of `/api`.
    func add(to api: RouterGroup<ServerRequestContext>) {
        api.get("storage") { request, _ in
            let need = try Self.need(request)
            return try await reader.response(with: .storage(need: need)) { check in try report(need: need, check) }
        }
        api.post("storage/evictions") { request, _ in
            try library.requireWritable("nothing is deleted")
            let need = try Self.need(request)
            let plan = try await reader.run { try library.evict(need: need) }
            for entry in plan.entries {
                broadcast.send(ServerEvent(name: "removed", data: .fields(["id": .string(entry.id)])))
            }
            return Response.json(plan.report)
        }
        api.put("library/:id/policy") { request, context in
            try library.requireWritable("no policy is changed")
            var request = request
            let body = try await request.collectBody(upTo: 64 << 10)
            let id = try context.parameters.require("id")
            let former = try await BlockingOperation.run { try library.storagePolicy(id) }
            let changes = PolicyChanges(parsing: Array(body.readableBytesView))
            guard let policy = changes?.applied(to: former) else {
                throw ServerError(
                    .badRequest,
                    "invalid-body",
                    "the body must contain pinned, priority (default or important) or expires (an ISO 8601 date or never)"
                )
            }
            try await BlockingOperation.run { try library.setStoragePolicy(policy, of: id) }
            return Response.json(Self.report(policy))
        }
        api.get("library/:id/artwork") { request, context in
            let id = try context.parameters.require("id")
            return try await artwork(of: id, for: request)
        }
    }

    /// Responds with the image that represents an asset.
    private func artwork(of id: String, for request: Request) async throws -> Response {
        guard let artwork = try await BlockingOperation.run({ [library] in try library.artwork(of: id) }) else {
            throw ServerError(.notFound, "not-found", "the asset \(id) has no artwork")
        }
        let tag = "\"\(Data(SHA256.hash(data: artwork.data)).base64EncodedString())\""
        // The type is one of the formats that the library recognizes, so that no image is taken for a page or a script.
        let headers: HTTPFields = [
            .contentType: artwork.format.contentType, .cacheControl: "private, no-cache", .eTag: tag,
        ]
        guard !ConditionalRequest(request.headers).hasRepresentation(tag) else {
            return Response(status: .notModified, headers: headers)
        }
        let reservation = try capacity.reservation(of: artwork.data.count)
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody(chunks: ByteBuffer(bytes: artwork.data), holding: reservation)
        )
    }

    /// Returns the number of bytes to make available that a request names; 0 by default.
    private static func need(_ request: Request) throws -> ByteCount {
        guard let text = QueryItems(request.uri.query)["need"] else { return .zero }
        guard let need = Int64(text), need >= 0 else {
            throw ServerError(.badRequest, "invalid-parameter", "need must be a number of bytes")
        }
        return ByteCount(need)
    }

    private func report(need: ByteCount, _ check: () throws -> Void) throws -> ReportValue {
        let (limits, policies) = (try library.storageLimits(), try library.storagePolicies())
        let artwork = try library.artworkFormats()
        let assets = try library.summaries().map { summary in
            ReportValue.fields([
                "id": .string(summary.id),
                "title": .string(summary.title),
                "bytes": .integer(summary.diskBytes.bytes),
                "artwork": artwork[summary.id].map { .string($0.contentType) },
                "policy": Self.report(policies[summary.id] ?? StoragePolicy()),
            ])
        }
        try check()
        return .fields([
            "used": .integer(library.diskUsage.occupiedBytes.bytes),
            "free": library.freeSpace.map { .integer($0.bytes) },
            "limits": .fields([
                "quota": limits.quota.map { .integer($0.bytes) },
                "minimumFreeSpace": .integer(limits.minimumFreeSpace.bytes),
            ]),
            "assets": .array(assets),
            "eviction": try library.evictionPlan(need: need).report,
        ])
    }

    private static func report(_ policy: StoragePolicy) -> ReportValue {
        .fields([
            "pinned": .bool(policy.isPinned),
            "priority": .string(policy.priority.rawValue),
            "expires": policy.expirationDate.map { .string($0.formatted(.iso8601)) },
        ])
    }
}
