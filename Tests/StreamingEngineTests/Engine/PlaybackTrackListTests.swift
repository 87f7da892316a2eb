import HLSPlaylist
import MediaTiming
import PlaybackReporting
import SegmentFormat
import Testing

@testable import StreamingEngine

@Suite struct PlaybackTrackListTests {
    /// A presentation with one variant that has the given attributes, and with an audio and a subtitles option.
    private func catalog(_ attributes: String) throws -> SourceCatalog {
        let presentation = Presentation(
            try multivariant(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",LANGUAGE="cy",DEFAULT=YES,AUTOSELECT=YES,URI="a.m3u8"
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="S",LANGUAGE="gd",URI="s.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1,\(attributes)
                v.m3u8
                """
            )
        )
        var catalog = SourceCatalog(chooser: VariantChooser(StreamingOptions()))
        catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
        catalog.selection[.audio] = presentation.group(.audio)?.options.first
        catalog.selection[.subtitles] = nil
        return catalog
    }

    /// Returns the tracks, each with its number, media type, codec and language.
    private func tracks(
        _ attributes: String,
        media: [MediaTrack]? = nil,
        hasAudioSource: Bool = false,
        showsSubtitles: Bool = false
    ) throws -> [String] {
        var catalog = try catalog(attributes)
        let presentation = try #require(catalog.presentation)
        let variant = try #require(presentation.variants.first)
        if showsSubtitles { catalog.selection[.subtitles] = presentation.group(.subtitles)?.options.first }
        var list = PlaybackTrackList()
        var sink = EffectSink(now: .zero)
        if let media { list.setTracks(media, of: variant) }
        list.update(for: variant, catalog, hasAudioSource: hasAudioSource, &sink)
        return list.tracks.map { "\($0.id) \($0.mediaType) \($0.codec ?? "-") \($0.language ?? "-")" }
    }

    @Test func theTracksFollowFromTheCodecs() throws {
        let both = #"CODECS="avc1.42c01e,mp4a.40.2""#
        #expect(try tracks(both) == ["1 video avc1.42c01e -", "2 audio mp4a.40.2 cy"])
        #expect(try tracks(#"CODECS="avc1.42c01e""#) == ["1 video avc1.42c01e -"])
        #expect(try tracks(#"CODECS="mp4a.40.2""#) == ["2 audio mp4a.40.2 cy"])
    }

    @Test func audioOfAGroupIsATrackOnceItHasASource() throws {
        let attributes = #"CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a""#
        #expect(try tracks(attributes) == ["1 video avc1.42c01e -"])
        #expect(
            try tracks(attributes, hasAudioSource: true) == ["1 video avc1.42c01e -", "2 audio mp4a.40.2 cy"]
        )
    }

    @Test func selectedSubtitlesAreATrack() throws {
        let attributes = #"CODECS="avc1.42c01e",SUBTITLES="s""#
        #expect(try tracks(attributes) == ["1 video avc1.42c01e -"])
        #expect(
            try tracks(attributes, showsSubtitles: true) == ["1 video avc1.42c01e -", "3 subtitles wvtt gd"]
        )
        #expect(
            try tracks(#"CODECS="avc1.42c01e,stpp.ttml.im1t",SUBTITLES="s""#, showsSubtitles: true)
                == ["1 video avc1.42c01e -", "3 subtitles stpp.ttml.im1t gd"]
        )
    }

    @Test func withoutCodecsTheTracksFollowFromTheMedia() throws {
        let attributes = "RESOLUTION=640x360"
        let media = [
            MediaTrack(id: 1, mediaType: .audio, codec: "ac-3", language: "deu"),
            MediaTrack(id: 2, mediaType: .video, codec: "hvc1"),
        ]
        #expect(try tracks(attributes) == [])
        #expect(try tracks(attributes, media: media) == ["1 video hvc1 -", "2 audio ac-3 cy"])
        #expect(try tracks(attributes, media: [media[1]]) == ["1 video hvc1 -"])
        #expect(try tracks(attributes, media: [media[0]]) == ["2 audio ac-3 cy"])
        #expect(try tracks(attributes, media: media, hasAudioSource: true) == ["1 video hvc1 -", "2 audio - cy"])
        // The media did not tell its tracks.
        #expect(try tracks(attributes, media: []) == ["1 video - -", "2 audio - cy"])
        // Declared codecs have priority.
        #expect(try tracks(#"CODECS="avc1.42c01e""#, media: media) == ["1 video avc1.42c01e -"])
    }

    @Test func aChangeOfTheTracksIsReportedOnce() {
        var list = PlaybackTrackList()
        var sink = EffectSink(now: .zero)
        let track = PlaybackTrack(id: 1, mediaType: .video)
        for _ in 0..<2 { list.set([track], &sink) }
        #expect(list.tracks == [track])
        let effects = sink.takeEffects(with: nil)
        #expect(effects.count == 1)
        list.set([], &sink)
        let later = sink.takeEffects(with: nil)
        #expect(later.count == 1)
    }
}
