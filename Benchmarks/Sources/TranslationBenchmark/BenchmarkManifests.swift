/// Manifests of the structure and size with which translations are compared, generated in each run.
enum BenchmarkManifests {
    /// A presentation with 170,000 `S` elements in two timelines, each with a time and a duration of its own: about 5 MB.
    static let long = Array(
        text(
            attributes: #"type="static" mediaPresentationDuration="PT50H""#,
            video: timeline(85_000, duration: { 180_000 + $0 * 7_919 % 977 }),
            audio: timeline(85_000, duration: { 96_000 + $0 * 7_919 % 977 }),
            representations: 1
        ).utf8
    )

    /// The number of segments of a window of two hours.
    static let windowLength = 3_600

    /// Returns a version of a live presentation with a window of two hours in segments of two seconds, six
    /// representations, and one segment more and one less than the version before.
    static func live(_ version: Int) -> [UInt8] {
        let first = 850_000_000 + version
        // Segments of audio consist of frames of 1,024 samples.
        func boundary(_ index: Int) -> Int { ((first + index) * 96_000 + 1_023) / 1_024 * 1_024 }
        return Array(
            text(
                attributes: """
                    type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z" publishTime="2024-01-01T00:00:00Z"
                    minimumUpdatePeriod="PT2S" timeShiftBufferDepth="PT2H"
                    """,
                video: timeline(windowLength, start: first * 180_000, duration: { _ in 180_000 }),
                audio: timeline(windowLength, start: boundary(0), duration: { boundary($0 + 1) - boundary($0) }),
                representations: 5
            ).utf8
        )
    }

    private static func timeline(_ count: Int, start: Int = 0, duration: (Int) -> Int) -> String {
        var time = start
        var text = ""
        for index in 0..<count {
            text += "<S t=\"\(time)\" d=\"\(duration(index))\"/>\n"
            time += duration(index)
        }
        return text
    }

    private static func text(attributes: String, video: String, audio: String, representations: Int) -> String {
        func template(_ timescale: Int, _ timeline: String) -> String {
            """
            <SegmentTemplate timescale="\(timescale)" initialization="$RepresentationID$/init.mp4"
              media="$RepresentationID$/$Time$.m4s"><SegmentTimeline>\(timeline)</SegmentTimeline></SegmentTemplate>
            """
        }
        let ladder = (1...representations).map { number in
            #"<Representation id="v\#(number)" codecs="avc1.640028" bandwidth="\#(number)000000" "#
                + #"width="\#(number * 320)" height="\#(number * 180)"/>"#
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011"
              minBufferTime="PT2S" \(attributes)><Period id="1" start="PT0S">
            <AdaptationSet contentType="video" mimeType="video/mp4">\(template(90_000, video))
            \(ladder.joined(separator: "\n"))</AdaptationSet>
            <AdaptationSet contentType="audio" mimeType="audio/mp4" lang="en">\(template(48_000, audio))
            <Representation id="a" codecs="mp4a.40.2" bandwidth="128000"/></AdaptationSet></Period></MPD>
            """
    }
}
