import MediaTiming
import NIOCore
import PlaybackReporting
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests of the subtitle segments of a stream.
@Suite struct SubtitleSegmentTests {
    private func segment(_ text: String) -> PipelineSegment {
        PipelineSegment(
            type: .subtitles,
            content: .media(ByteBuffer(string: text), initialization: nil),
            range: MediaTimeRange(start: .zero, duration: MediaTime(seconds: 6)),
            discontinuityDomain: PipelineSegment.Domain(playlist: "p", sequence: 0)
        )
    }

    /// A document that is not read to its end because the task was canceled is not damaged.
    @Test func readingOfALargeDocumentIsCanceled() throws {
        let paragraphs = String(repeating: "<p/>", count: 20_000)
        let document = segment("<tt xmlns=\"http://www.w3.org/ns/ttml\"><body><div>\(paragraphs)</div></body></tt>")
        #expect(throws: CancellationError.self) {
            try CancelableWork.perform(canceledIf: { true }) { _ = try SubtitleSegment(document) }
        }
        let whole = try SubtitleSegment(document)
        #expect(whole != nil)
        let damaged = segment("<tt xmlns=\"http://www.w3.org/ns/ttml\">")
        #expect(throws: MediaPipelineError.self) { _ = try SubtitleSegment(damaged) }
    }
}
