import MediaTiming
import ResourceAddressing
import Testing

@testable import MediaTransport

/// Tests the limits of the playlists that a server has in memory: their times and sizes.
@Suite struct ResourceMemoryFaultTests {
    private static let address = ResourceAddress("https://h/a")

    private let origin = CacheOrigin()
    private let seconds = CacheClock()

    /// Returns a memory whose time is that of the clock.
    private func memory(size: Int64 = 1 << 20, staleIfError: Duration = .zero) -> ResourceMemory {
        let seconds = seconds
        var options = ResourceMemory.Options { UnixSeconds(1_000_000_000 + seconds.now.components.seconds) }
        options.size = ByteCount(size)
        options.staleIfError = staleIfError
        return ResourceMemory(options)
    }

    private func load(_ memory: ResourceMemory) async throws -> ResourceMemory.Resource {
        let origin = origin
        return try await memory.resource(at: Self.address) {
            (ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)), ByteCount(1 << 20))
        }
    }

    @Test func validatedResourceIsAsOldAsItsValidation() async throws {
        let memory = memory()
        origin.respond(
            with: .text("one", "ETag: \"1\""),
            .notModified("ETag: \"1\"", "Cache-Control: max-age=5"),
            .text("two")
        )
        _ = try await load(memory)
        seconds.advance(by: .seconds(100))
        _ = try await load(memory)
        seconds.advance(by: .seconds(4))
        _ = try await load(memory)
        #expect(origin.requestCount == 2)
        seconds.advance(by: .seconds(1))
        let resource = try await load(memory)
        #expect(resource.loaded.bytes == Array("two".utf8) && origin.requestCount == 3)
    }

    @Test func ageOfAResponseShortensItsLifetime() async throws {
        let memory = memory()
        origin.respond(with: .text("one", "Cache-Control: max-age=10", "Age: 4"))
        _ = try await load(memory)
        seconds.advance(by: .seconds(5))
        #expect(memory.freshVersion(of: Self.address) != nil)
        seconds.advance(by: .seconds(1))
        #expect(memory.freshVersion(of: Self.address) == nil)
    }

    @Test func resourceFromTheFutureIsNotFresh() async throws {
        let memory = memory()
        origin.respond(with: .text("one", "Cache-Control: max-age=10"))
        _ = try await load(memory)
        #expect(memory.freshVersion(of: Self.address) != nil)
        seconds.advance(by: .seconds(-1))
        #expect(memory.freshVersion(of: Self.address) == nil)
    }

    /// The last content is used for the longer of both times after its lifetime of ten seconds.
    @Test(
        arguments: [
            ("stale-if-error=20", 0, 30), ("stale-if-error=20", 25, 35), ("stale-if-error=20", 5, 30),
            ("stale-if-error=20, must-revalidate", 5, 15),
        ] as [(String, Int, Int)]
    )
    func staleContentHidesAnErrorForTheLongerTime(directive: String, option: Int, end: Int) async throws {
        let memory = memory(staleIfError: .seconds(option))
        origin.respond(with: .text("one", "Cache-Control: max-age=10, \(directive)"), .failing(.status, status: 503))
        _ = try await load(memory)
        seconds.advance(by: .seconds(end))
        let stale = try await load(memory)
        #expect(stale.loaded.bytes == Array("one".utf8) && origin.requestCount == 2)
        seconds.advance(by: .seconds(1))
        await #expect(throws: TransportError.self) { _ = try await load(memory) }
    }

    @Test(arguments: [("Cache-Control: no-store, max-age=60", 0), ("Vary: *", 1), ("Cache-Control: max-age=60", 1)])
    func onlyContentThatMustNotBeStoredIsForgotten(field: String, count: Int) async throws {
        let memory = memory()
        origin.respond(with: .text("one", field))
        _ = try await load(memory)
        #expect(memory.count == count)
    }

    /// An entry takes its bytes, both URLs, the header field with 64 bytes and 1,024 bytes, and at most a quarter.
    @Test(arguments: [(0, 1), (1, 0)])
    func entryTakesAtMostAQuarterOfTheMemory(excess: Int, count: Int) async throws {
        let memory = memory(size: 100_000)
        let field = "Cache-Control: max-age=60"
        let byteCount = 25_000 - 1_024 - 64 - (field.utf8.count - 2) - 2 * Self.address.text.utf8.count + excess
        origin.respond(with: .text(String(repeating: "x", count: byteCount), field))
        _ = try await load(memory)
        #expect(memory.count == count)
    }
}
