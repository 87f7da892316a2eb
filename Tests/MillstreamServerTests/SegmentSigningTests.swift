import Foundation
import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the paths of segments byte for byte.
@Suite struct SegmentPathTests {
    private static let signer = SegmentSigner(ServerSecret(bytes: [UInt8](0..<32)))

    private func link() throws -> LinkParameters? {
        LinkParameters(QueryItems("conditions=3G&link=abc"), source: ResourceAddress("https://h/x"))
    }

    private func unsigned(_ address: SegmentAddress) -> String {
        address.path(signedBy: Self.signer).replacing(/signature=[A-Za-z0-9_-]{43}/, with: "signature=S")
    }

    @Test func queryItemsDetermineTheDelivery() throws {
        let target = ResourceAddress("https://h/v/a b.ts?x=1")
        let text = "/segment/a%20b.ts?url=https://h/v/a%20b.ts%3Fx%3D1&signature=S"
        #expect(unsigned(SegmentAddress(target, delivery: .redirect, link: nil)) == text)
        #expect(unsigned(SegmentAddress(target, delivery: .proxy, link: nil)) == text + "&segments=proxy")
        let conditioned = SegmentAddress(target, delivery: .redirect, link: try link())
        #expect(conditioned.delivery == .proxy && unsigned(conditioned) == text + "&conditions=3G&link=abc")
    }

    /// Addresses remain valid when a server is updated to a newer version.
    @Test func signaturesAreStable() throws {
        let target = ResourceAddress("https://h/a.ts")
        let signatures = [
            Self.signer.signature(of: SegmentAddress(target, delivery: .redirect, link: nil)),
            Self.signer.signature(of: SegmentAddress(target, delivery: .proxy, link: nil)),
            Self.signer.signature(of: SegmentAddress(target, delivery: .proxy, link: try link())),
        ]
        #expect(
            signatures == [
                "R3wn7PTgg4p5hhaSoXKw0zLLxqfb6vJ4id1JAD9ilhc", "pAmgPCa_sEzC9_pFPh7rrTT4HjDZpoH--egCdNlnpOU",
                "e8NZKdwtsHBQKsAyU9tmYW659tMAGnxHoShZs9kcBiY",
            ]
        )
    }

    @Test(arguments: [
        ("https://h/a.ts", "a.ts"), ("https://h/v/a%20b.ts", "a b.ts"), ("https://h/v/%C3%A4", "ä"),
        ("https://h/", "segment"), ("https://h", "segment"), ("https://h/%ff", "segment"),
        ("https://h/a%2Fb", "segment"), ("https://h/a%5Cb", "segment"), ("https://h/%2e%2e", "segment"),
        ("https://h/%00", "segment"), ("https://h/.", "segment"), ("https://h/...", "..."),
        ("https://h/a%25b", "a%b"),
    ])
    func nameIsTheLastPathComponentIfItIsSafe(target: String, name: String) {
        #expect(SegmentAddress(ResourceAddress(target), delivery: .redirect, link: nil).name == name)
    }

    private func read(_ query: String, name: String = "a.ts") throws -> SegmentAddress {
        try SegmentAddress(name: name, query: QueryItems(query), signer: Self.signer)
    }

    @Test(arguments: [
        ("", HTTPResponse.Status.badRequest, "missing-url"), ("signature=x", .badRequest, "missing-url"),
        ("url=", .badRequest, "missing-url"), ("url=file:///a", .badRequest, "missing-url"),
        ("url=https://h/a&url=https://h/a", .badRequest, "repeated-item"),
        ("url=https://h/a&segments=proxy&segments=proxy", .badRequest, "repeated-item"),
        ("url=https://h/a&conditions=3G&conditions=3G", .badRequest, "repeated-item"),
        ("url=https://h/a&link=a&link=a", .badRequest, "repeated-item"),
        ("url=https://h/a&signature=a&signature=a", .badRequest, "repeated-item"),
        ("url=https://h/a&segments=never", .badRequest, "invalid-value"),
        ("url=https://h/a", .forbidden, "invalid-signature"),
        ("url=https://h/a&x=1&x=2", .forbidden, "invalid-signature"),
        ("url=https://h/a&signature=", .forbidden, "invalid-signature"),
    ])
    func invalidAddressesAreRejectedWithACode(query: String, status: HTTPResponse.Status, code: String) {
        let error = #expect(throws: ServerError.self) { try read(query) }
        #expect(error?.status == status && error?.code == code)
    }

    @Test func nameIsDecodedOnce() throws {
        let address = SegmentAddress(ResourceAddress("https://h/a%2520b"), delivery: .redirect, link: nil)
        #expect(address.name == "a%20b")
        let path = address.path(signedBy: Self.signer)
        let query = try #require(path.split(separator: "?", maxSplits: 1).last)
        #expect(path.hasPrefix("/segment/a%2520b?"))
        #expect(try read(String(query), name: "a%2520b") == address)
        #expect(throws: ServerError.self) { try read(String(query), name: "a%20b") }
    }

    /// Tests all Base64 forms except the one that is written.
    @Test func onlyTheCanonicalFormOfASignatureIsValid() throws {
        // Find a signature with both characters that differ between the Base64 alphabets.
        let addresses = (0..<200).map {
            SegmentAddress(ResourceAddress("https://h/\($0).ts"), delivery: .redirect, link: nil)
        }
        let address = try #require(
            addresses.first {
                let signature = Self.signer.signature(of: $0)
                return signature.contains("-") && signature.contains("_")
            }
        )
        let signature = Self.signer.signature(of: address)
        #expect(Self.signer.isValid(signature, for: address))
        for other in [
            signature.replacing("-", with: "+"), signature.replacing("_", with: "/"), signature + "=",
            signature.dropLast() + "=", " " + signature.dropFirst(),
        ] {
            #expect(!Self.signer.isValid(String(other), for: address), "\(other)")
        }
    }
}

@Suite struct SecretFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())")

    private func withFile(_ length: Int, mode: mode_t = 0o600, _ body: (URL) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("server-secret")
        try Data(repeating: 7, count: length).write(to: file)
        #expect(chmod(file.path, mode) == 0)
        try body(file)
    }

    private func message(_ body: () throws -> ServerSecret) -> (text: String, hint: String?)? {
        do {
            _ = try body()
            return nil
        } catch {
            return ("\(error)", (error as? ServerSecret.ReadingError)?.hint)
        }
    }

    private static let hint = "make one with: head -c 32 /dev/urandom > FILE; chmod 600 FILE"

    @Test(
        arguments: [
            (0, "has 0 bytes; at least 16 are needed"), (15, "has 15 bytes; at least 16 are needed"), (16, nil),
            (65_536, nil), (65_537, "has more than 65536 bytes"),
        ] as [(Int, String?)]
    )
    func secretHasAMinimumAndAMaximumLength(length: Int, message: String?) throws {
        try withFile(length) { file in
            let error = self.message { try ServerSecret(file: file) }
            #expect(error?.text == message.map { "the secret \(file.path) \($0)" })
            #expect(error?.hint == message.map { _ in Self.hint })
        }
    }

    @Test(
        arguments: [
            (0o600, false), (0o400, false), (0o700, false), (0o640, true), (0o620, true), (0o610, true), (0o604, true),
            (0o602, true), (0o601, true), (0o644, true),
        ] as [(mode_t, Bool)]
    )
    func secretFileReadableByOthersIsDetected(mode: mode_t, expected: Bool) throws {
        try withFile(32, mode: mode) { file in
            #expect(try ServerSecret(file: file).isReadableByOthers == expected)
            let link = folder.appendingPathComponent("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            #expect(try ServerSecret(file: link).isReadableByOthers == expected)
        }
    }

    @Test(arguments: [0o600, 0o400, 0o640, 0o604, 0o601] as [mode_t])
    func storedSecretIsForItsOwnerOnly(mode: mode_t) throws {
        try withFile(32, mode: mode) { file in
            let secret = try ServerSecret.stored(in: folder)
            #expect(!secret.isReadableByOthers)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == (mode == 0o400 ? 0o400 : 0o600))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["server-secret"])
        }
    }

    @Test func storedSecretOfAnotherLengthIsDamaged() throws {
        for length in [31, 33] {
            try withFile(length) { file in
                let error = message { try ServerSecret.stored(in: folder) }
                #expect(error?.text == "the secret \(file.path) is damaged")
                #expect(
                    error?.hint == "delete the file; addresses of segments that were given out before become invalid"
                )
            }
        }
    }

    @Test func unusableSecretFileIsNamedInTheError() throws {
        try withFile(32) { file in
            #expect(
                message { try ServerSecret(file: folder) }?.text == "the secret \(folder.path) is not a regular file"
            )
            let missing = folder.appendingPathComponent("none")
            let error = message { try ServerSecret(file: missing) }
            #expect(error?.text.hasPrefix("the secret \(missing.path) cannot be read (") == true && error?.hint == nil)
            let nowhere = folder.appendingPathComponent("none/x")
            #expect(
                message { try ServerSecret.stored(in: nowhere) }?.text
                    == "the secret \(nowhere.path)/server-secret cannot be written (No such file or directory)"
            )
        }
    }
}

/// Tests the budget of a request at its boundaries.
@Suite struct RequestBudgetTests {
    private func code(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(ServerError(error).status.code) \(ServerError(error).code)"
        }
    }

    @Test func requestLoadsAtMostItsByteLimit() throws {
        let work = ServerCapacity(
            ServerLimits(editing: EditLimits(loadedBytes: ByteCount(100)), pendingBytes: ByteCount(1_000))
        )
        let budget = try work.admit()
        try budget.editing.receive(60)
        #expect(code { try budget.editing.receive(41) } == "413 playlist-too-large")
        // Rejected bytes are not counted.
        #expect(work.pendingBytes == 60)
        try budget.editing.receive(40)
        #expect(work.pendingBytes == 100 && code { try budget.editing.receive(1) } == "413 playlist-too-large")
        try budget.editing.receive(0)
        // Response bytes count only towards the limit of the server.
        try budget.reserve(900)
        #expect(code { try budget.reserve(1) } == "503 busy" && work.pendingBytes == 1_000)
    }

    @Test func bytesAreReleasedOnce() throws {
        let work = ServerCapacity(ServerLimits(pendingEdits: 2, pendingBytes: ByteCount(100)))
        var (first, second): (RequestBudget?, RequestBudget?) = (try work.admit(), try work.admit())
        #expect(code { _ = try work.admit() } == "503 busy")
        try first?.reserve(30)
        try second?.reserve(70)
        #expect(code { try second?.editing.receive(1) } == "503 busy")
        first = nil
        #expect(work.pendingRequests == 1 && work.pendingBytes == 70)
        try second?.reserve(30)
        second = nil
        #expect(work.pendingRequests == 0 && work.pendingBytes == 0)
    }

    @Test func playlistsAndResponsesHaveTheirLimits() throws {
        let limits = ServerLimits(
            editing: EditLimits(loadedBytes: ByteCount(1), entries: 2, resultBytes: ByteCount(3))
        )
        let budget = try ServerCapacity(limits).admit()
        #expect(budget.limits == limits)
        #expect(budget.limits.editing.loadedPlaylist.byteCount == 1)
        #expect(budget.limits.editing.result.byteCount == 3)
        #expect(
            budget.limits.editing.loadedPlaylist.entryCount == 2
                && budget.limits.editing.result.entryCount == 2
        )
    }

    @Test func meteredTransportPassesResponsesOn() async throws {
        let base = ScriptedTransport(["https://h/a": [.bytes(Array("0123456789".utf8), contentType: "text/plain")]])
        let budget = try ServerCapacity(ServerLimits(editing: EditLimits(loadedBytes: ByteCount(15)))).admit()
        let transport = MeteredTransport(base) { try budget.editing.receive($0) }
        #expect(transport.executor == nil)
        let request = TransportRequest(ResourceAddress("https://h/a"), kind: .playlist)
        let (plain, response) = (try await base.send(request), try await transport.send(request))
        #expect(response.status == plain.status && response.headers == plain.headers)
        #expect(response.address == plain.address && response.expectedLength == plain.expectedLength)
        var bytes: [UInt8] = []
        for try await buffer in response.body { bytes += buffer.readableBytesView }
        #expect(bytes == Array("0123456789".utf8) && response.record.measurement.bytes == ByteCount(10))
        let error = await #expect(throws: PlaylistEditError.self) {
            for try await _ in try await transport.send(request).body {}
        }
        #expect(error == .loadsTooMuch(ByteCount(15)))
        #expect(error.map { ServerError($0).status } == .contentTooLarge)
    }
}

/// Tests work in the task of the caller and on worker threads.
@Suite(.timeLimit(.minutes(10))) struct WorkPlaceTests {
    @Test func callerWorkEndsWhenItsTaskIsCancelled() async throws {
        #expect(try await EditWorkers.callingTask.run { _ in 7 } == 7)
        let work = Task {
            try await EditWorkers.callingTask.run { check in
                try check()
                withUnsafeCurrentTask { $0?.cancel() }
                try check()
            }
        }
        await #expect(throws: CancellationError.self) { try await work.value }
        try await EditWorkers.callingTask.shutdown()
    }

    @Test func workOnThreadsThrowsItsOwnErrors() async throws {
        struct Failure: Error {}
        // At least one thread is created.
        let workers = EditWorkers(threads: 0)
        await #expect(throws: Failure.self) { try await workers.run { _ in throw Failure() } }
        #expect(
            try await workers.run { check in
                try check()
                return 7
            } == 7
        )
        try await workers.shutdown()
    }

    /// Two jobs that wait for each other.
    @Test func jobsRunConcurrentlyOnTheThreads() async throws {
        let workers = EditWorkers(threads: 2)
        let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let one: Void = workers.run { _ in
            first.signal()
            second.wait()
        }
        async let two: Void = workers.run { _ in
            second.signal()
            first.wait()
        }
        _ = try await (one, two)
        try await workers.shutdown()
    }
}
