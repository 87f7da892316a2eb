import DASHManifest
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

struct SegmentTextTests {
    /// Durations are differences of exact boundaries that are rounded to microseconds, whatever arithmetic writes them.
    @Test(
        arguments: [1, 10, 1_001, 44_100, 90_000, 10_000_000, 999_999_937, 1 << 45] as [Int64],
        [0, 1_704_067_200] as [Int64]
    )
    func durationsAndAddressesFollowFromTheExactTimes(timescale: Int64, seconds: Int64) throws {
        let (time, overflow) = seconds.multipliedReportingOverflow(by: timescale)
        try #require(!overflow || timescale == 1 << 45)
        let duration = 2 * timescale + timescale / 3
        let presentation = try liveManifest(
            """
            <Period id="1" start="PT0S"><AdaptationSet contentType="video" mimeType="video/mp4">
            <SegmentTemplate timescale="\(timescale)" initialization="i" media="a b/$Time$_$Number%03d$.m4s">
            <SegmentTimeline><S t="\(overflow ? 0 : time)" d="\(duration)" r="4"/><S d="\(duration + 1)" r="2"/>\
            </SegmentTimeline></SegmentTemplate>
            <Representation id="v" bandwidth="1" codecs="avc1.64001f"/></AdaptationSet></Period>
            """
        )
        let period = try #require(presentation.periods.first)
        let set = try #require(period.adaptationSets.first)
        let representation = try #require(set.representations.first)
        let addressing = SegmentAddressing(of: representation, in: set, of: period, in: presentation)
        let segments = (0..<addressing.count).compactMap { addressing.segment(at: $0) }
        #expect(segments.count == 8)
        let expected = segments.map { segment in
            let bounds = [segment.start, segment.end].map {
                $0.scaled(by: MediaTime(seconds: 1_000_000)).roundedSeconds
            }
            let length = MediaTime(value: bounds[1] - bounds[0], timescale: 1_000_000)
            let address = segment.resource.address.text.split(separator: " ").joined(separator: "%20")
            return "#EXTINF:\(length),\n\(address)\n"
        }
        let text = try translate(presentation).text("video-v.m3u8")
        #expect(text.contains(expected.joined()))
    }
}
