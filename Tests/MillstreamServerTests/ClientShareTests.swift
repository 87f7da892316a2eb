import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests the shares of the capacity of a server that its clients have.
@Suite struct ClientShareTests {
    /// The budgets of the requests in progress.
    private final class Held {
        var budgets: [RequestBudget] = []
    }

    private static func client(_ number: UInt8, isForeign: Bool = false) -> RequestingClient {
        RequestingClient(network: ClientNetwork(HostAddress([192, 0, 2, number])), isForeign: isForeign)
    }

    /// Returns the status and the code of the error with which a request is refused; `nil` if it is admitted.
    private func refusal(
        _ work: ServerCapacity,
        _ client: RequestingClient?,
        _ held: Held
    ) -> String? {
        do {
            held.budgets.append(try RequestingClient.$current.withValue(client) { try work.admit() })
            return nil
        } catch {
            let failure = ServerError(error)
            return "\(failure.status.code) \(failure.code) \(failure.response.headers[.retryAfter] ?? "")"
        }
    }

    @Test func aClientHasAQuarterOfTheRequests() {
        let work = ServerCapacity(ServerLimits(pendingEdits: 64))
        let held = Held()
        for _ in 0..<16 { #expect(refusal(work, Self.client(1), held) == nil) }
        #expect(refusal(work, Self.client(1), held) == "429 too-many-requests 1")
        // Others have their own shares, also the pages of other sites in the same client.
        for client in [Self.client(1, isForeign: true), Self.client(2, isForeign: true)] {
            for _ in 0..<16 { #expect(refusal(work, client, held) == nil) }
            #expect(refusal(work, client, held) == "429 too-many-requests 1")
        }
        // Pages of other sites have half of the requests together.
        #expect(refusal(work, Self.client(3, isForeign: true), held) == "503 busy 1")
        for _ in 0..<16 { #expect(refusal(work, Self.client(3), held) == nil) }
        #expect(refusal(work, Self.client(4), held) == "503 busy 1")
        #expect(work.pendingRequests == 64)
        held.budgets.removeAll()
        #expect(work.pendingRequests == 0)
        for _ in 0..<16 { #expect(refusal(work, Self.client(1), held) == nil) }
    }

    @Test(arguments: [(1, 1), (0, 0), (-1, 0), (40, 40), (100, 64)])
    func theShareOfAClientCanBeSet(maximum: Int, admitted: Int) {
        let work = ServerCapacity(ServerLimits(pendingEdits: 64, pendingEditsPerClient: maximum))
        let held = Held()
        for _ in 0..<admitted { #expect(refusal(work, Self.client(1), held) == nil) }
        let isFull = admitted == 64
        #expect(refusal(work, Self.client(1), held) == (isFull ? "503 busy 1" : "429 too-many-requests 1"))
        #expect(refusal(work, nil, held) == (isFull ? "503 busy 1" : nil))
    }

    /// A player in this process, and a connection without an address, have no share.
    @Test func requestsWithoutAClientAreLimitedTogether() {
        let work = ServerCapacity(ServerLimits(pendingEdits: 64))
        let held = Held()
        for _ in 0..<64 { #expect(refusal(work, nil, held) == nil) }
        #expect(refusal(work, nil, held) == "503 busy 1")
    }

    /// A proxy that is not trusted makes all its clients one.
    @Test func theDefaultShareHasRoomForManyPlayers() {
        let shares = ClientShares(total: ServerLimits().pendingEdits, minimum: 12)
        #expect(shares.share == 64 && shares.foreignTotal == 128)
        // A player loads many playlists at once, whatever the capacity is.
        let small = [0, 1, 8, 12, 20, 48, 100].map { ClientShares(total: $0, minimum: 12).share }
        #expect(small == [0, 1, 8, 12, 12, 12, 25])
    }

    @Test func clientsOfATrustedProxyHaveTheirOwnShares() async throws {
        let proxy = try #require(TrustedProxy("127.0.0.1"))
        try await ServerStage.run(
            connections: ConnectionLimits(trustedProxies: [proxy]),
            configure: { options, origin in
                options.limits = ServerLimits(pendingEdits: 48)
                for number in 0..<12 { origin.behave("/slow-\(number).m3u8", .stallBeforeHead) }
            },
            { (stage: ServerStage) async throws in
                let attacker = "X-Forwarded-For: 192.0.2.1"
                let connections = try (0..<12).map { _ in try RawConnection(port: stage.port) }
                for (number, connection) in connections.enumerated() {
                    let source = stage.origin.address("/slow-\(number).m3u8")
                    let head = "GET /play.m3u8?url=\(source) HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\n"
                    connection.send(head + attacker + "\r\n\r\n")
                }
                while stage.requests.count(where: { $0.path.contains("/slow-") }) < 12 {
                    try await Task.sleep(for: .milliseconds(5))
                }
                let target = "/play.m3u8?url=\(stage.privateSource)"
                let refused = try await stage.ask(target, fields: [attacker])
                #expect(refused.status == 429 && refused.errorCode == "too-many-requests")
                #expect(refused.field("Retry-After") == "1")
                #expect(try await stage.ask(target, fields: ["X-Forwarded-For: 192.0.2.2"]).status == 200)
                withExtendedLifetime(connections) {}
            }
        )
    }
}

/// Tests the shares of the segments that are divided into parts.
@Suite struct PartShareTests {
    private static let date = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart
    private static let segment: [UInt8] = (0..<40).flatMap { number in
        [0xFF, 0xF1, 0x50, 0x80, 0x19, 0x1F, 0xFC] + [UInt8](repeating: UInt8(number), count: 193)
    }

    /// An origin whose slow segments do not arrive for ten minutes.
    private struct SlowTransport: Transport {
        let base: ScriptedTransport
        let time: any TimeSource

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            if request.address.text.contains("slow") { try await time.sleep(for: .seconds(600)) }
            return try await base.send(request)
        }
    }

    private static func part(_ name: String) throws -> SegmentPart {
        let fragment = "part=0&count=4&target=0.5&duration=2&date=\(date.sinceEpoch)"
        return try #require(SegmentPart(of: ResourceAddress("http://h/\(name)#\(fragment)")))
    }

    @Test(.timeLimit(.minutes(10))) func slowSegmentsOfAClientDoNotStopOthers() async throws {
        let simulation = Simulation()
        let capacity = ServerCapacity(ServerLimits())
        let store = PartStore(workers: .callingTask, capacity: capacity, time: simulation, date: { Self.date })
        let loader = ResourceLoader(
            SlowTransport(
                base: ScriptedTransport(["http://h/a.aac": [.bytes(Self.segment)]]),
                time: simulation
            ),
            policy: RecoveryPolicy(retries: 0),
            time: simulation
        )
        @Sendable func ask(_ name: String, _ number: UInt8) async -> String {
            let client = RequestingClient(network: ClientNetwork(HostAddress([192, 0, 2, number])), isForeign: false)
            do {
                let bytes = try await RequestingClient.$current.withValue(client) {
                    try await store.bytes(of: Self.part(name), isForeign: false, loader)
                }
                return "\(bytes.readableBytes) bytes after \(simulation.now / .seconds(1)) s"
            } catch {
                let failure = ServerError(error)
                return "\(failure.status.code) \(failure.code) after \(simulation.now / .seconds(1)) s"
            }
        }
        try await simulation.run {
            let counts = await withTaskGroup(of: String.self) { group in
                for number in 0..<40 { group.addTask { await ask("slow-\(number).aac", 1) } }
                group.addTask {
                    try? await simulation.sleep(for: .seconds(1))
                    return await ask("a.aac", 2)
                }
                return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(
                counts == [
                    "504 timed-out after 60.0 s": 16, "429 too-many-requests after 0.0 s": 24,
                    "2000 bytes after 1.0 s": 1,
                ]
            )
            #expect(capacity.pendingRequests == 0)
        }
    }
}
