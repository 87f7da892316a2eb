import MediaTiming
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// Tests of the playlists that a server has in memory.
@Suite struct ResourceMemoryTests {
    private final class Clock: Sendable {
        private let seconds = Mutex<Int64>(1_000_000_000)
        var now: UnixSeconds { UnixSeconds(seconds.withLock { $0 }) }
        func advance(by count: Int64) { seconds.withLock { $0 += count } }
    }

    private struct Stage {
        let origin = CacheOrigin()
        let clock = Clock()
        let memory: ResourceMemory

        init(size: Int64 = 1 << 20, staleIfError: Duration = .zero) {
            var options = ResourceMemory.Options { [clock] in clock.now }
            options.size = ByteCount(size)
            options.staleIfError = staleIfError
            memory = ResourceMemory(options)
        }

        func load(_ name: String = "a") async throws -> ResourceMemory.Resource {
            try await memory.resource(at: ResourceAddress("https://h/\(name)")) { [origin] in
                (ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)), ByteCount(1 << 20))
            }
        }

        func text(_ name: String = "a") async throws -> String {
            String(decoding: try await load(name).loaded.bytes, as: UTF8.self)
        }
    }

    @Test func freshResourceIsUsedWithoutARequest() async throws {
        let stage = Stage()
        stage.origin.respond(with: .text("one", "Cache-Control: max-age=10"), .text("two"))
        #expect(try await stage.text() == "one")
        stage.clock.advance(by: 9)
        #expect(try await stage.text() == "one" && stage.origin.requestCount == 1)
        #expect(stage.memory.freshVersion(of: ResourceAddress("https://h/a")) != nil)
        stage.clock.advance(by: 1)
        #expect(stage.memory.freshVersion(of: ResourceAddress("https://h/a")) == nil)
        #expect(try await stage.text() == "two" && stage.origin.requestCount == 2)
    }

    @Test func staleResourceIsValidated() async throws {
        let stage = Stage()
        stage.origin.respond(
            with: .text("one", "ETag: \"1\""),
            .notModified("ETag: \"1\"", "Cache-Control: max-age=5"),
            .text("two", "ETag: \"2\"")
        )
        let first = try await stage.load()
        let second = try await stage.load()
        #expect(second.version == first.version && second.loaded.bytes == first.loaded.bytes)
        #expect(stage.origin.requests.last?.headers == [HeaderField("If-None-Match", "\"1\"")])
        #expect(try await stage.text() == "one" && stage.origin.requestCount == 2)
        stage.clock.advance(by: 5)
        #expect(try await stage.load().version != first.version)
    }

    @Test func validationOfAnotherResourceIsNotTrusted() async throws {
        let stage = Stage()
        stage.origin.respond(with: .text("one", "ETag: \"1\""), .notModified("ETag: \"2\""), .text("two"))
        #expect(try await stage.text() == "one")
        #expect(try await stage.text() == "two" && stage.origin.requestCount == 3)
    }

    @Test func validationAtAnotherURLIsNotTrusted() async throws {
        let stage = Stage()
        var elsewhere = OriginResponse.notModified("ETag: \"1\"")
        elsewhere.address = ResourceAddress("https://other/a")
        stage.origin.respond(with: .text("one", "ETag: \"1\""), elsewhere, .text("two"))
        #expect(try await stage.text() == "one")
        #expect(try await stage.text() == "two" && stage.origin.requestCount == 3)
        // The last request is without a condition.
        #expect(stage.origin.requests.last?.headers.isEmpty == true)
    }

    @Test func equalContentAtAnotherURLHasAnotherVersion() async throws {
        let stage = Stage()
        var moved = OriginResponse.text("one")
        moved.address = ResourceAddress("https://other/a")
        stage.origin.respond(with: .text("one"), moved)
        let first = try await stage.load()
        let second = try await stage.load()
        #expect(second.version != first.version && second.loaded.address.text == "https://other/a")
    }

    @Test func equalContentHasTheSameVersion() async throws {
        let stage = Stage()
        stage.origin.respond(with: .text("one"), .text("one"), .text("two"))
        let first = try await stage.load()
        #expect(try await stage.load().version == first.version)
        #expect(try await stage.load().version != first.version)
        #expect(stage.origin.requestCount == 3)
    }

    @Test(arguments: ["Cache-Control: no-store, max-age=60", "Cache-Control: no-cache, max-age=60", "Vary: *"])
    func responseThatMustNotBeReusedIsLoadedAgain(field: String) async throws {
        let stage = Stage()
        stage.origin.respond(with: .text("one", field, "Cache-Control: max-age=60"), .text("two"))
        #expect(try await stage.text() == "one")
        #expect(try await stage.text() == "two")
    }

    @Test func lastResourceHidesAnErrorWhereAsked() async throws {
        let stage = Stage(staleIfError: .seconds(20))
        stage.origin.respond(with: .text("one", "Cache-Control: max-age=10"), .failing(.status, status: 503))
        #expect(try await stage.text() == "one")
        stage.clock.advance(by: 30)
        #expect(try await stage.text() == "one")
        stage.clock.advance(by: 1)
        await #expect(throws: TransportError.self) { try await stage.load() }
        let missing = Stage(staleIfError: .seconds(20))
        missing.origin.respond(with: .text("one"), .failing(.status, status: 404))
        _ = try await missing.load()
        await #expect(throws: TransportError.self) { try await missing.load() }
        let unasked = Stage()
        unasked.origin.respond(with: .text("one"), .failing(.status, status: 503))
        _ = try await unasked.load()
        await #expect(throws: TransportError.self) { try await unasked.load() }
    }

    @Test func memoryIsBounded() async throws {
        let stage = Stage(size: 100_000)
        stage.origin.respond(with: .text(String(repeating: "x", count: 9_000), "Cache-Control: max-age=60"))
        for number in 0..<100 {
            _ = try await stage.load("\(number)")
            _ = try await stage.load("0")
        }
        #expect(stage.memory.count <= 10)
        // What is used often stays.
        #expect(stage.memory.freshVersion(of: ResourceAddress("https://h/0")) != nil)
        stage.origin.respond(with: .text(String(repeating: "x", count: 50_000), "Cache-Control: max-age=60"))
        _ = try await stage.load("large")
        #expect(stage.memory.freshVersion(of: ResourceAddress("https://h/large")) == nil)
    }

    @Test func addressesAndHeaderFieldsAreCounted() async throws {
        let text = String(repeating: "x", count: 10_000)
        let addresses = Stage(size: 100_000)
        addresses.origin.respond(with: .text("one", "Cache-Control: max-age=60"))
        for number in 0..<50 { _ = try await addresses.load("\(number)\(text)") }
        #expect((1...9).contains(addresses.memory.count))
        let fields = Stage(size: 100_000)
        fields.origin.respond(with: .text("one", "Cache-Control: max-age=60", "ETag: \"\(text)\""))
        for number in 0..<50 { _ = try await fields.load("\(number)") }
        #expect((1...9).contains(fields.memory.count))
    }

    // MARK: Simultaneous requests

    /// A transport that answers when the test permits it.
    private final class HeldTransport: Transport {
        let started = Broadcast()
        let canRespond = Broadcast()
        let counts = Mutex((started: 0, cancelled: 0))

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            counts.withLock { $0.started += 1 }
            started.notify()
            await canRespond.wait(after: 0)
            guard !Task.isCancelled else {
                counts.withLock { $0.cancelled += 1 }
                started.notify()
                throw CancellationError()
            }
            return TransportResponse(
                status: 200,
                headers: [],
                address: request.address,
                expectedLength: 1,
                body: TransportBody([1]),
                record: TransferRecord(TransferMeasurement(requestStart: .zero))
            )
        }

        func wait(until condition: (_ started: Int, _ cancelled: Int) -> Bool) async {
            while true {
                let seen = started.count
                if counts.withLock({ condition($0.started, $0.cancelled) }) { return }
                await started.wait(after: seen)
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func simultaneousRequestsShareALoad() async throws {
        let transport = HeldTransport()
        let memory = ResourceMemory(ResourceMemory.Options { UnixSeconds(0) })
        let address = ResourceAddress("https://h/a")
        let tasks = (0..<50).map { _ in
            Task { try await memory.resource(at: address) { (ResourceLoader(transport), ByteCount(10)) }.version }
        }
        await transport.wait { started, _ in started == 1 }
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        transport.canRespond.notify()
        for task in tasks.dropFirst() { _ = try await task.value }
        #expect(transport.counts.withLock { $0.cancelled } == 0)
    }

    @Test(.timeLimit(.minutes(10))) func loadEndsWithItsLastWaiter() async throws {
        let transport = HeldTransport()
        let memory = ResourceMemory(ResourceMemory.Options { UnixSeconds(0) })
        let address = ResourceAddress("https://h/a")
        let tasks = (0..<3).map { _ in
            Task { try await memory.resource(at: address) { (ResourceLoader(transport), ByteCount(10)) }.version }
        }
        await transport.wait { started, _ in started >= 1 }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        await transport.wait { started, cancelled in started == cancelled }
        transport.canRespond.notify()
        _ = try await memory.resource(at: address) { (ResourceLoader(transport), ByteCount(10)) }
    }

    /// The work of a client that has left can go on to its next playlist before it notices the end.
    @Test(.timeLimit(.minutes(10))) func canceledTaskBeginsNoLoad() async throws {
        let transport = HeldTransport()
        let memory = ResourceMemory(ResourceMemory.Options { UnixSeconds(0) })
        let begun = Mutex(0)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await memory.resource(at: ResourceAddress("https://h/a")) {
                begun.withLock { $0 += 1 }
                return (ResourceLoader(transport), ByteCount(10))
            }.version
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // A load that was begun in vain would have been begun before this one.
        transport.canRespond.notify()
        _ = try await memory.resource(at: ResourceAddress("https://h/b")) {
            (ResourceLoader(transport), ByteCount(10))
        }
        #expect(begun.withLock { $0 } == 0 && transport.counts.withLock { $0.started } == 1)
    }
}
