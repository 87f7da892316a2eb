import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NetworkConditioning
import ResourceAddressing
import Testing

/// A transport implementation under test that serves a set of named resources.
struct TransportUnderTest: Sendable, CustomTestStringConvertible {
    /// The body of a test, which receives the transport and a function that returns the address of a named resource.
    typealias Body = @Sendable (any Transport, @escaping @Sendable (String) -> ResourceAddress) async throws -> Void

    let name: String
    let run: @Sendable ([String: [UInt8]], Body) async throws -> Void

    var testDescription: String { name }

    /// A Boolean value that indicates whether the transport reads files, for which there is no status.
    var readsFiles: Bool { name == Self.file.name }

    static let all: [TransportUnderTest] = [
        http, throttledHTTP, file, scripted, conditioned, cached, authorized, scheme,
    ]

    static let http = TransportUnderTest(name: "HTTP") { resources, body in
        try await withServer(resources, .proper, body)
    }

    /// A transport whose response bodies arrive in many small chunks.
    static let throttledHTTP = TransportUnderTest(name: "HTTP, chunked") { resources, body in
        try await withServer(resources, .chunked(size: 1_000), body)
    }

    static let file = TransportUnderTest(name: "file") { resources, body in
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("contract-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, bytes) in resources { try Data(bytes).write(to: folder.appendingPathComponent(name)) }
        try await body(FileTransport()) { ResourceAddress(filePath: folder.path + "/" + $0) }
    }

    static let scripted = TransportUnderTest(name: "script") { resources, body in
        try await body(script(resources), address)
    }

    static let conditioned = TransportUnderTest(name: "conditioned link") { resources, body in
        let way = LinkProfile.DirectionConditions(
            bandwidth: BitRate(bitsPerSecond: 400_000_000),
            latency: .milliseconds(1)
        )
        let link = ConditionedLink(LinkProfile(name: "t", down: way, up: way))
        try await body(ConditionedTransport(script(resources), over: link), address)
    }

    static let cached = TransportUnderTest(name: "cache") { resources, body in
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(CachedTransport(script(resources), cache: try DiskCache(directory: folder)), address)
    }

    static let authorized = TransportUnderTest(name: "authorized") { resources, body in
        let authorization = RequestAuthorization(
            trustedAddresses: [address("")],
            headers: [HeaderField("Authorization", "Bearer x")]
        )
        try await body(AuthorizedTransport(script(resources), authorization: authorization), address)
    }

    static let scheme = TransportUnderTest(name: "by scheme") { resources, body in
        try await body(SchemeTransport(http: script(resources), file: nil), address)
    }

    private static let address: @Sendable (String) -> ResourceAddress = { ResourceAddress("http://h/\($0)") }

    private static func script(_ resources: [String: [UInt8]]) -> ScriptedTransport {
        let responses = resources.map { ("http://h/\($0.key)", [ScriptedTransport.Response.bytes($0.value)]) }
        return ScriptedTransport(Dictionary(uniqueKeysWithValues: responses))
    }

    private static func withServer(
        _ resources: [String: [UInt8]],
        _ behavior: MisbehavingServer.Behavior,
        _ body: Body
    ) async throws {
        let served = resources.map { ("/\($0.key)", MisbehavingServer.Resource($0.value)) }
        try await MisbehavingServer.withServer(Dictionary(uniqueKeysWithValues: served)) { server in
            server.behave("*", behavior)
            let transport = HTTPTransport()
            do {
                try await body(transport) { ResourceAddress(server.address("/\($0)")) }
            } catch {
                try await transport.shutdown()
                throw error
            }
            try await transport.shutdown()
        }
    }
}

/// The contract that every transport fulfills, independent of the source of its bytes.
@Suite(.timeLimit(.minutes(10))) struct TransportContractTests {
    private static let large = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    private static let resources: [String: [UInt8]] = ["large": large, "small": Array("hello".utf8), "empty": []]

    private static func bytes(_ response: TransportResponse) async throws -> [UInt8] {
        var result: [UInt8] = []
        for try await buffer in response.body { result += buffer.readableBytesView }
        return result
    }

    private static func request(_ address: ResourceAddress, _ range: ByteRange? = nil) -> TransportRequest {
        TransportRequest(address, kind: .segment, byteRange: range)
    }

    @Test(arguments: TransportUnderTest.all)
    func bodyContainsTheBytesOfTheResource(subject: TransportUnderTest) async throws {
        try await subject.run(Self.resources) { transport, address in
            for (name, bytes) in Self.resources {
                let response = try await transport.send(Self.request(address(name)))
                #expect(response.status == 200 && response.address == address(name))
                #expect(response.expectedLength == nil || response.expectedLength == Int64(bytes.count))
                #expect(try await Self.bytes(response) == bytes)
            }
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func transfersAreMeasured(subject: TransportUnderTest) async throws {
        try await subject.run(Self.resources) { transport, address in
            let response = try await transport.send(Self.request(address("large")))
            let early = response.record.measurement
            #expect(early.timeToFirstByte != nil && early.bytes.bytes <= 300_000)
            _ = try await Self.bytes(response)
            let measurement = response.record.measurement
            #expect(measurement.bytes == ByteCount(300_000) && !measurement.isFromCache)
            let first = try #require(measurement.timeToFirstByte)
            #expect(try #require(measurement.timeToLastByte) >= first && first >= .zero)
            #expect(measurement.transferDuration != nil)
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func rangeRequestReturnsOnlyTheRange(subject: TransportUnderTest) async throws {
        try await subject.run(Self.resources) { transport, address in
            for (start, length) in [(0, 1), (0, 300_000), (299_999, 1), (1_234, 150_000)] {
                let range = try #require(ByteRange(start: Int64(start), length: Int64(length)))
                let response = try await transport.send(Self.request(address("large"), range))
                #expect(response.expectedLength ?? Int64(length) == Int64(length))
                #expect(try await Self.bytes(response) == Array(Self.large[start..<(start + length)]))
            }
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func rangeBeyondTheEndIsAnError(subject: TransportUnderTest) async throws {
        try await subject.run(Self.resources) { transport, address in
            for (start, length) in [(0, 6), (3, 3), (5, 1), (1_000, 10)] {
                let range = try #require(ByteRange(start: Int64(start), length: Int64(length)))
                await #expect(throws: TransportError.self) {
                    let response = try await transport.send(Self.request(address("small"), range))
                    _ = try await Self.bytes(response)
                }
            }
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func missingResourceIsAnErrorWithItsAddress(subject: TransportUnderTest) async throws {
        try await subject.run(Self.resources) { transport, address in
            let error = await #expect(throws: TransportError.self) {
                _ = try await transport.send(Self.request(address("none")))
            }
            #expect(error?.address == address("none"))
            let (code, status): (TransportError.Code, Int?) = subject.readsFiles ? (.fileNotFound, nil) : (.status, 404)
            #expect(error?.code == code && error?.status == status)
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func bodyNeedNotBeReadToItsEnd(subject: TransportUnderTest) async throws {
        try await subject.run(Self.resources) { transport, address in
            for _ in 0..<20 {
                let response = try await transport.send(Self.request(address("large")))
                var iterator = response.body.makeAsyncIterator()
                _ = try await iterator.next()
            }
            let response = try await transport.send(Self.request(address("small")))
            #expect(try await Self.bytes(response) == Array("hello".utf8))
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func concurrentRequestsAreAnswered(subject: TransportUnderTest) async throws {
        try await subject.run(Self.resources) { transport, address in
            let large = address("large")
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<24 {
                    group.addTask {
                        try await Self.bytes(try await transport.send(Self.request(large))) == Self.large
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func cancelledTaskThrowsCancellationError(subject: TransportUnderTest) async throws {
        try await subject.run(Self.resources) { transport, address in
            let large = address("large")
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    withUnsafeCurrentTask { $0?.cancel() }
                    do {
                        let response = try await transport.send(Self.request(large))
                        for try await _ in response.body { try Task.checkCancellation() }
                        Issue.record("it came to its end")
                    } catch {
                        #expect(error is CancellationError)
                    }
                }
            }
        }
    }
}
