import AssetStorage
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the changes of storage policies, apart from any server.
@Suite(.timeLimit(.minutes(10))) struct StorageRouteDetailTests {
    /// A library with an asset, and the route that changes its policy.
    private struct Stage {
        let id: String
        let responder: RouterResponder<ServerRequestContext>

        init(_ library: AssetLibrary) throws {
            id = try library.addAsset(source: ResourceAddress("https://h/a.m3u8"), title: "A", selection: "")
            let capacity = ServerCapacity(ServerLimits())
            let router = Router(context: ServerRequestContext.self)
            StorageRoutes(
                library: library,
                broadcast: EventBroadcast(),
                reader: LibraryReader(capacity, thread: .callingTask),
                capacity: capacity
            ).add(to: router.group("api"))
            responder = router.buildResponder()
        }

        /// Sends a change, and returns the policy, or the status and the code of the error.
        func change(_ body: String) async throws -> String {
            var head = Request.get("/api/library/\(id)/policy").head
            head.method = .put
            let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
            let response: Response
            do {
                response = try await responder.respond(to: request, context: ServerRequestContext(source: source))
            } catch {
                let failure = ServerError(error)
                return "\(failure.status.code) \(failure.code)"
            }
            guard response.status == .ok else { return "\(response.status.code)" }
            return try await response.body.recorded().text
        }
    }

    private func onStage(_ test: (Stage) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await test(try Stage(AssetLibrary(directory: folder)))
    }

    @Test func changesKeepWhatTheyDoNotName() async throws {
        try await onStage { stage in
            let steps = [
                ("{}", "400 invalid-body"), (#"{"title":"x"}"#, "400 invalid-body"), ("[", "400 invalid-body"),
                (#"{"pinned":1}"#, "400 invalid-body"), (#"{"priority":"high"}"#, "400 invalid-body"),
                (#"{"expires":"soon"}"#, "400 invalid-body"), (#"{"pinned":true,"expires":""}"#, "400 invalid-body"),
                (#"{"pinned":true}"#, #"{"pinned":true,"priority":"default"}"#),
                (#"{"priority":"important"}"#, #"{"pinned":true,"priority":"important"}"#),
                (
                    #"{"expires":"2101-01-31T00:00:00Z"}"#,
                    #"{"pinned":true,"priority":"important","expires":"2101-01-31T00:00:00Z"}"#
                ),
                (
                    #"{"pinned":false}"#,
                    #"{"pinned":false,"priority":"important","expires":"2101-01-31T00:00:00Z"}"#
                ),
                (
                    #"{"priority":"default"}"#,
                    #"{"pinned":false,"priority":"default","expires":"2101-01-31T00:00:00Z"}"#
                ),
                (#"{"expires":"never"}"#, #"{"pinned":false,"priority":"default"}"#),
            ]
            for (body, expected) in steps {
                let found = try await stage.change(body)
                #expect(found == expected, "\(body)")
            }
        }
    }

    @Test func bodyHasALimit() async throws {
        try await onStage { stage in
            let body = #"{"pinned":true}"#
            let longest = body + String(repeating: " ", count: 65_536 - body.utf8.count)
            let accepted = try await stage.change(longest)
            #expect(accepted == #"{"pinned":true,"priority":"default"}"#)
            let refused = try await stage.change(longest + " ")
            #expect(refused.hasPrefix("413"), "\(refused)")
        }
    }
}
