import ResourceAddressing
import SegmentFormat
import Testing

@testable import StreamingEngine

@Suite struct UndecodableMediaTests {
    private func error(_ codecs: [String?], type: MediaTrack.MediaType = .audio) -> StreamingError? {
        let tracks = codecs.enumerated().map { MediaTrack(id: UInt32($0), mediaType: type, codec: $1) }
        return StreamingError.undecodable(tracks, at: ResourceAddress("a.ts")) { $0.hasPrefix("avc1") }
    }

    @Test func mediaIsUndecodableIfNoTrackCanBeDecoded() {
        let error = error(["ac-4", "mp4a.40.42"])
        #expect(error?.code == .unsupported && error?.address == ResourceAddress("a.ts"))
        #expect(error?.message.contains("ac-4") == true && error?.message.contains("mp4a.40.42") == true)
    }

    @Test(
        arguments: [
            ["avc1.64001e", "ac-4"], [nil, "ac-4"], ["mp4a"], ["mp4a.40"], ["mp4v"], ["pcm"], [],
        ] as [[String?]]
    )
    func mediaMayBeDecodableIfOneTrackMayBe(codecs: [String?]) {
        #expect(error(codecs) == nil)
    }

    @Test func tracksOfOtherTypesAreNotRequired() { #expect(error(["ac-4"], type: .metadata) == nil) }
}
