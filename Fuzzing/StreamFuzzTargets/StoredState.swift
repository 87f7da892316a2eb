import AssetStorage
import Foundation
import FuzzTargets
import MediaTransport
import MillstreamDownloads
import NIOCore

/// Reads what the cache, the library and the download queue store.
@Sendable func readStoredState(_ bytes: [UInt8]) {
    if let metadata = EntryMetadata(ByteBuffer(bytes: bytes)) {
        check(EntryMetadata(metadata.encoded()) == metadata, "metadata is written as other metadata")
    }
    if let note = UnfinishedFile(parsing: bytes) {
        check(note.bytes.count <= UnfinishedFile.maximumSize, "a note is larger than allowed")
        check(UnfinishedFile(parsing: note.bytes) == note, "a note is written as another")
    }
    if let configuration = DownloadConfiguration(stored: Data(bytes)) { checkOptions(configuration) }
}

private func checkOptions(_ configuration: DownloadConfiguration) {
    check(
        DownloadConfiguration.fetchCounts.contains(configuration.maximumConcurrentFetches),
        "there are more fetches at the same time than allowed"
    )
    guard let stored = try? configuration.stored, let again = DownloadConfiguration(stored: stored) else {
        return check(false, "the options of a download cannot be stored")
    }
    let storedAgain = try? again.stored
    check(storedAgain == stored, "the options of a download are stored as others")
}
