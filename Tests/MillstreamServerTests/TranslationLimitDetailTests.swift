import DASHManifest
import DASHTranslation
import MediaTiming
import PlaylistEditing
import PresentationLoading
import Testing

@testable import MillstreamServer

/// Tests that the limits of a server apply to manifests and their translations, which have limits of their own.
@Suite struct TranslationLimitDetailTests {
    /// The limits of a server, and those that follow from them.
    struct Case: Sendable {
        let loadedBytes: Int64
        let resultBytes: Int64
        let entries: Int
        let manifestBytes: Int
        let translationBytes: Int
        let segmentCount: Int64
    }

    @Test(arguments: [
        Case(
            loadedBytes: 100,
            resultBytes: 300,
            entries: 10,
            manifestBytes: 100,
            translationBytes: 300,
            segmentCount: 50
        ),
        Case(
            loadedBytes: 1 << 40,
            resultBytes: 1 << 40,
            entries: 1_000_000,
            manifestBytes: 64 << 20,
            translationBytes: 256 << 20,
            segmentCount: 2_000_000
        ),
    ])
    func smallerLimitCounts(example: Case) {
        let editing = EditLimits(
            loadedBytes: ByteCount(example.loadedBytes),
            entries: example.entries,
            resultBytes: ByteCount(example.resultBytes)
        )
        let options = PresentationStore(ServerLimits(editing: editing), workers: .callingTask).options
        #expect(options.manifest.byteCount == example.manifestBytes)
        #expect(options.translation.byteCount == example.translationBytes)
        #expect(options.translation.segmentCount == example.segmentCount)
    }
}
