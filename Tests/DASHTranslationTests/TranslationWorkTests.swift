import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
import Testing

/// The work of a translation: it is counted before it is done, and ends when the task is canceled.
struct TranslationWorkTests {
    private static let video = #"contentType="video" mimeType="video/mp2t""#
    private static let representation = #"<Representation id="v" bandwidth="1" codecs="avc1.64001f"/>"#

    private func tooLargeMessage(_ presentation: MediaPresentation) -> String? {
        var translator = PresentationTranslator()
        let error = #expect(throws: TranslationError.self) { try translator.translate(presentation, at: testNow) }
        guard case .tooLarge(let message)? = error else { return nil }
        return message
    }

    @Test func baseAddressesAreCountedBeforeTheyAreResolved() throws {
        let segments = String(repeating: #"<SegmentURL media="a"/>"#, count: 5_000)
        let presentation = try manifest(
            """
            <Period><BaseURL>\(String(repeating: "a", count: 60_000))/</BaseURL><AdaptationSet \(Self.video)>
            <SegmentList duration="1">\(segments)</SegmentList>\(Self.representation)</AdaptationSet></Period>
            """,
            attributes: #"type="static" mediaPresentationDuration="PT5000S""#
        )
        #expect(tooLargeMessage(presentation) == "the base URLs of all representations are too long")
    }

    @Test func addressesOfSegmentsAreCountedBeforeTheyAreWritten() throws {
        let presentation = try manifest(
            """
            <Period><AdaptationSet \(Self.video)>
            <SegmentTemplate duration="1" media="\(String(repeating: "a", count: 60_000))$Number$"/>
            \(Self.representation)</AdaptationSet></Period>
            """,
            attributes: #"type="static" mediaPresentationDuration="PT10000S""#
        )
        #expect(tooLargeMessage(presentation) == "the playlists are too large")
    }

    @Test func canceledTranslationEndsWithoutAChange() throws {
        let presentation = try liveManifest(#"<Period id="1" start="PT0S">\#(videoSet)</Period>"#)
        var translator = PresentationTranslator()
        var count = 0
        _ = try translator.translate(presentation, at: testNow, checkCancellation: { count += 1 })
        #expect(count >= 4)
        // Each check ends the translation.
        for last in 1...count {
            var other = PresentationTranslator()
            var current = 0
            #expect(throws: CancellationError.self) {
                try other.translate(
                    presentation,
                    at: testNow,
                    checkCancellation: {
                        current += 1
                        if current == last { throw CancellationError() }
                    }
                )
            }
            #expect(other.state == TranslationState())
        }
    }

    /// One character can have thousands of combining marks, which each rendition of the set would repeat.
    @Test func labelIsShortHoweverManyCombiningMarksACharacterHas() throws {
        let label = "<Label>e\(String(repeating: "\u{20D0}", count: 10_000))</Label>"
        let presentation = try manifest("<Period>\(videoSet)\(audioSet("a", language: "en", contents: label))</Period>")
        let translated = try translate(presentation)
        let name = try #require(translated.multivariant.renditions.first?.name)
        let scalars = name.unicodeScalars
        #expect(scalars.starts(with: "e\u{20D0}".unicodeScalars) && scalars.count <= 200)
    }

    /// The texts of an adaptation set are read once for all of its representations, and longer ones than any known value are not read.
    @Test func longAttributesOfASetAreNotReadForEachRepresentation() throws {
        let codecs = String(repeating: "avc1.64001f,", count: 100)
        let presentation = try manifest(
            """
            <Period><AdaptationSet \(Self.video) codecs="\(codecs)">
            <Accessibility schemeIdUri="urn:scte:dash:cc:cea-608:2015" value="CC1=eng"/>
            <SegmentTemplate media="$Number$.ts" duration="2"/>
            <Representation id="v" bandwidth="1"/></AdaptationSet></Period>
            """
        )
        var translator = PresentationTranslator()
        let translated = try translator.translate(presentation, at: testNow)
        let variant = try #require(translated.multivariant.variants.first)
        #expect(variant.codecs == [] && variant.groupID(.closedCaptions) != nil)
    }

    /// A manifest of a megabyte would otherwise become date ranges of gigabytes.
    @Test func eventsOfAStreamWithALongValueAreLeftOut() throws {
        let long = String(repeating: "v", count: 5_000)
        let events = (0..<3).map { #"<Event presentationTime="\#($0)" id="\#($0)">x</Event>"# }.joined()
        let streams = [long, "short"].map { value in
            #"<EventStream schemeIdUri="urn:x" value="\#(value)">\#(events)</EventStream>"#
        }
        let translated = try translate(manifest("<Period>\(streams.joined())\(videoSet)</Period>"))
        let message = "3 events have a scheme, value and identifier of more than 2048 bytes"
        #expect(translated.losses.map(\.message) == [message])
        let playlist = try MediaPlaylist(parsing: try #require(translated.playlists.first).bytes)
        #expect(playlist.dateRanges.map { $0["X-VALUE"] } == ["short", "short", "short"])
    }

    @Test func eventsBeyondTheLimitAreNotRead() throws {
        let events = (0..<2_000).map { #"<Event presentationTime="\#($0)" id="\#($0)">x</Event>"# }.joined()
        let presentation = try manifest(
            #"<Period><EventStream schemeIdUri="urn:x">\#(events)</EventStream>\#(videoSet)</Period>"#
        )
        var translator = PresentationTranslator(limits: TranslationLimits(eventCount: 10))
        var count = 0
        let result = try translator.translate(presentation, at: testNow, checkCancellation: { count += 1 })
        #expect(result.losses.map(\.message) == ["there are more than 10 events"])
        #expect(count < 100)
    }
}
