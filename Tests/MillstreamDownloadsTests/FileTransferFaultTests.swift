import AssetStorage
import MediaTiming
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests the progress of a file between its reception and its end.
@Suite(.timeLimit(.minutes(1))) struct FileTransferFaultTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    /// The bytes of a received file count once, before and after it is stored.
    @Test func receivedFileCountsUntilItIsStored() async throws {
        let file = try #require(try temporary.plannedFiles(1).first)
        let transfer = try temporary.transfer(file, ScriptedTransport(texts: [file.address.text: "media"]))
        #expect(transfer.meter.progress.bytes == ByteCount(0))
        let reception = try await transfer.receive()
        guard case .received(let received) = reception else {
            Issue.record("the file was not received")
            return
        }
        #expect(transfer.meter.progress.bytes == ByteCount(5) && received.file.count == 5)
        try await transfer.store(received)
        #expect(transfer.meter.progress.bytes == ByteCount(5))
        #expect(transfer.meter.figures.requestCount == 1 && transfer.meter.progress.requestedFile == nil)
        #expect(try temporary.library.missingCount(file.assetID) == 0)
    }

    /// The bytes of a file that was refused do not count.
    @Test func failedFileDoesNotCount() async throws {
        let file = try #require(try temporary.plannedFiles(1).first)
        let transfer = try temporary.transfer(file, ScriptedTransport())
        await #expect(throws: (any Error).self) { try await transfer.run() }
        #expect(transfer.meter.progress.bytes == ByteCount(0) && transfer.meter.progress.requestedFile == nil)
        #expect(try temporary.library.missingCount(file.assetID) == 1)
    }
}
