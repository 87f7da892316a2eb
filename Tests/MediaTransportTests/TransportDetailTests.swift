import Dispatch
import Foundation
import MediaTiming
import MillstreamTesting
import NIOCore
import NIOPosix
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// The ownership of files on the machine of the tests.
private enum FileOwnership {
    /// A Boolean value that indicates whether this process can give a file to another user.
    ///
    /// Only the superuser can, and not in a container that has no other users.
    static let canBeChanged: Bool = {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("owner-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        return FileManager.default.createFile(atPath: path, contents: nil) && chown(path, 4_711, 4_711) == 0
    }()
}

/// Tests the errors of transports, and the operations on files that seldom fail.
@Suite(.timeLimit(.minutes(10))) struct TransportDetailTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("detail-\(UUID())").path

    private func mode(_ path: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.posixPermissions] as? Int
    }

    // MARK: Errors

    @Test(
        arguments: [
            (.unknownHost, -11_863), (.cannotConnect, -11_863), (.timedOut, -11_863), (.connectionLost, -11_863),
            (.addressRefused, -11_862), (.networkRefused, -11_862), (.status, -11_849), (.wrongContent, -11_849),
            (.contentChanged, -11_849), (.tooLarge, -11_849), (.badRedirect, -11_849), (.fileNotFound, -11_849),
            (.fileFailed, -11_849), (.insecure, -11_849), (.tokenUnavailable, -11_849), (.unreadableManifest, -11_853),
            (.untranslatable, -11_833), (.tooManyLookups, nil), (.init(rawValue: "other"), nil),
        ] as [(TransportError.Code, Int?)]
    )
    func codesHaveTheNumbersOfAVFoundation(code: TransportError.Code, number: Int?) {
        #expect(code.number == number)
    }

    @Test func errorKeepsItsPropertiesWhenItIsRepeated() {
        let address = ResourceAddress("https://h/a")
        var error = TransportError(
            .status,
            "refused",
            address: address,
            status: 403,
            retryAfter: .seconds(3),
            cause: CancellationError()
        )
        #expect(error.serverAddress == nil && error.explanation == nil && !error.exceedsDocumentTime)
        error.serverAddress = "10.0.0.1:80"
        error.hasOmittedHeaderFields = true
        error.explanation = "it is secret"
        error.exceedsDocumentTime = true
        error.headerFields = ["a": "b"]
        let others = [error.at(ResourceAddress("https://h/b")), error.after(attempts: 3)]
        #expect(others.map(\.message) == ["refused", "refused, after 3 attempts"])
        #expect(others.map(\.address?.text) == ["https://h/b", "https://h/a"])
        for other in others {
            #expect(other.code == .status && other.status == 403 && other.retryAfter == .seconds(3))
            #expect(other.cause is CancellationError && other.serverAddress == "10.0.0.1:80")
            #expect(other.hasOmittedHeaderFields && other.explanation == "it is secret" && other.exceedsDocumentTime)
            #expect(other.headerFields == ["a": "b"])
        }
    }

    @Test func numbersOfOtherDomainsHaveNoReason() {
        for code in [CocoaError.Code.fileNoSuchFile, .fileWriteOutOfSpace] {
            let error = NSError(domain: "other", code: code.rawValue)
            #expect(FileErrorText.reason(of: error) == "the reason is unknown" && !FileErrorText.isFull(error))
        }
    }

    // MARK: Values

    @Test func valuesHaveTheDocumentedDefaults() {
        let measurement = TransferMeasurement()
        #expect(!measurement.carriedCredentials && measurement.skippedBytes == .zero)
        let request = TransportRequest(ResourceAddress("https://h/a"), kind: .other)
        #expect(request.headers.isEmpty && request.scopedHeaders.isEmpty && request.byteRange == nil)
        let response = TransportResponse(to: request, body: TransportBody([1]))
        #expect(!response.mayNameFiles && response.documentTimers.isEmpty)
        #expect(response.at(ResourceAddress("https://h/b")).address.text == "https://h/b")
    }

    @Test func onlyDataURLsHaveContent() {
        #expect(ResourceAddress("data:,b").dataContent == [0x62])
        #expect(ResourceAddress("https://h/a,b").dataContent == nil && ResourceAddress("data:b").dataContent == nil)
    }

    @Test func localFileOfARemoteDocumentIsRefused() async {
        let address = ResourceAddress("https://h/a").resolving("file:///etc/passwd")
        let transport = SchemeTransport(http: ScriptedTransport(), file: FileTransport())
        let error = await #expect(throws: TransportError.self) {
            _ = try await transport.send(TransportRequest(address, kind: .segment))
        }
        #expect(error?.code == .addressRefused && error?.address?.text == "file:///etc/passwd")
        let file = ResourceAddress("file:///etc/passwd")
        #expect(error?.message == "a remote document refers to a local file, which it must not do: \(file)")
    }

    // MARK: Files

    @Test func namedPipeIsRefusedWithoutWaitingForItsWriter() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let path = folder + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let error = await #expect(throws: TransportError.self) {
            _ = try await FileTransport().send(TransportRequest(ResourceAddress(filePath: path), kind: .segment))
        }
        #expect(error?.code == .fileFailed)
        #expect(error?.message == "\(path) is not a regular file; use - to read from a pipe")
    }

    @Test func errorOfADirectoryNamesItsPlaylist() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        try PrivateFiles.write([1], to: folder + "/multivariant.m3u8")
        for path in [folder, folder + "/"] {
            let error = await #expect(throws: TransportError.self) {
                _ = try await FileTransport().send(TransportRequest(ResourceAddress(filePath: path), kind: .playlist))
            }
            let playlist = folder + "/multivariant.m3u8"
            #expect(error?.message == "\(path) is a directory, not a file; its playlist is \(playlist)")
        }
    }

    @Test(.enabled(if: FileOwnership.canBeChanged, "files cannot be given to another user"))
    func filesOfOtherUsersKeepTheirModes() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder + "/theirs")
        let path = folder + "/file"
        try PrivateFiles.write([1], to: path)
        #expect(chmod(path, 0o644) == 0 && chmod(folder + "/theirs", 0o755) == 0)
        try #require(chown(path, 4_711, 4_711) == 0 && chown(folder + "/theirs", 4_711, 4_711) == 0)
        PrivateFiles.restrictFile(path)
        #expect(mode(path) == 0o644)
        #expect(!PrivateFiles.restrictFolder(folder + "/theirs") && mode(folder + "/theirs") == 0o755)
    }

    // MARK: Blocking operations

    private final class Flag: Sendable {
        private let state = Mutex(false)

        var isSet: Bool { state.withLock { $0 } }

        func set() { state.withLock { $0 = true } }
    }

    /// All threads of the pool are busy when the task is canceled, so that its operation has not begun.
    @Test func operationThatIsCanceledBeforeItBeginsIsNotPerformed() async throws {
        let gate = DispatchSemaphore(value: 0)
        let count = NIOSingletons.blockingPoolThreadCountSuggestion
        for _ in 0..<count { NIOThreadPool.singleton.submit { _ in gate.wait() } }
        let performed = Flag()
        let task = Task { try await BlockingOperation.runUntilCanceled { performed.set() } }
        for _ in 0..<100 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        for _ in 0..<count { gate.signal() }
        for _ in 0..<(4 * count) { try await BlockingOperation.run {} }
        #expect(!performed.isSet)
    }
}
