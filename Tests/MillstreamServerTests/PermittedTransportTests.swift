import Foundation
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests that a cache that other programs fill does not open private hosts to the clients of the server.
@Suite struct PermittedTransportTests {
    private func withCache(_ body: (DiskCache) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("permitted-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(try DiskCache(directory: folder))
    }

    private func read(_ address: String, through transport: any Transport) async throws -> [UInt8] {
        try await ResourceLoader(transport).load(TransportRequest(ResourceAddress(address), kind: .segment)).bytes
    }

    @Test func cachedResourceOfAPrivateHostIsRefusedUnlessItIsNamed() async throws {
        try await MisbehavingServer.withServer([
            "/a": .init([1, 2, 3], headers: ["Cache-Control": "max-age=60"])
        ]) { server in
            try await withCache { cache in
                let http = HTTPTransport()
                let owner = CachedTransport(http, cache: cache)
                #expect(try await read(server.address("/a"), through: owner) == [1, 2, 3])
                func permitted(_ allowed: [String], hosts: HostCache?) -> PermittedTransport {
                    PermittedTransport(
                        base: CachedTransport(http, cache: cache),
                        policy: SourcePolicy(allowedHosts: allowed, catalog: []),
                        hosts: hosts
                    )
                }
                for hosts in [HostCache(), nil] {
                    let error = await #expect(throws: TransportError.self) {
                        try await read(server.address("/a"), through: permitted([], hosts: hosts))
                    }
                    #expect(error?.code == .addressRefused)
                    let named = permitted(["127.0.0.1"], hosts: hosts)
                    #expect(try await read(server.address("/a"), through: named) == [1, 2, 3])
                }
                #expect(server.requests.count == 1)
                try await http.shutdown()
            }
        }
    }

    @Test func cachedRedirectToAPrivateHostIsRefused() async throws {
        try await MisbehavingServer.withServer([
            "/a": .init([1], headers: ["Cache-Control": "max-age=60"])
        ]) { server in
            try await MisbehavingServer.withServer([:]) { named in
                named.behave("/a", .redirect(to: server.address("/a"), status: 302))
                try await withCache { cache in
                    let http = HTTPTransport()
                    let source = "http://localhost:\(named.port)/a"
                    #expect(try await read(source, through: CachedTransport(http, cache: cache)) == [1])
                    let permitted = PermittedTransport(
                        base: CachedTransport(http, cache: cache),
                        policy: SourcePolicy(allowedHosts: ["localhost"], catalog: []),
                        hosts: HostCache()
                    )
                    let error = await #expect(throws: TransportError.self) {
                        try await read(source, through: permitted)
                    }
                    #expect(error?.code == .addressRefused)
                    try await http.shutdown()
                }
            }
        }
    }
}
