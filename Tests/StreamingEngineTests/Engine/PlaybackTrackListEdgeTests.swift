import HLSPlaylist
import MediaTiming
import PlaybackReporting
import SegmentFormat
import Testing

@testable import StreamingEngine

/// Tests of the tracks of media files, and of their languages.
@Suite struct PlaybackTrackListEdgeTests {
    private static let media = [
        MediaTrack(id: 1, mediaType: .video, codec: "hvc1", language: "deu"),
        MediaTrack(id: 2, mediaType: .audio, codec: "ac-3", language: "fra"),
        MediaTrack(id: 3, mediaType: .audio, codec: "mp4a.40.2", language: "ita"),
        MediaTrack(id: 4, mediaType: .subtitles, codec: "tx3g", language: "spa"),
    ]

    private static func option(_ track: Int, _ type: Rendition.MediaType, _ language: String?) -> MediaSelectionOption {
        MediaSelectionOption(.id(track), type: type, name: "\(track)", language: language, isDefault: false)
    }

    /// Returns the tracks of an item without declared codecs, each with its number, codec and language.
    private func tracks(
        audio: MediaSelectionOption? = nil,
        subtitles: MediaSelectionOption? = nil,
        hasSubtitles: Bool = true
    ) throws -> [String] {
        let group = #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="S",URI="s.m3u8""# + "\n"
        let presentation = Presentation(
            try multivariant("#EXTM3U\n\(hasSubtitles ? group : "")#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n")
        )
        let variant = try #require(presentation.variants.first)
        var catalog = SourceCatalog(chooser: VariantChooser(StreamingOptions()))
        catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
        catalog.selection[.audio] = audio
        catalog.selection[.subtitles] = subtitles
        var list = PlaybackTrackList()
        var sink = EffectSink(now: .zero)
        #expect(list.areUnknown(of: variant))
        list.setTracks(Self.media, of: variant)
        #expect(!list.areUnknown(of: variant))
        list.update(for: variant, catalog, hasAudioSource: false, &sink)
        return list.tracks.map { "\($0.id) \($0.codec ?? "-") \($0.language ?? "-")" }
    }

    @Test func theFirstTrackOfEachTypeIsPlayed() throws {
        #expect(try tracks() == ["1 hvc1 deu", "2 ac-3 fra"])
    }

    @Test func theSelectedTrackOfAFileIsPlayed() throws {
        #expect(try tracks(audio: Self.option(3, .audio, "it")) == ["1 hvc1 deu", "2 mp4a.40.2 it"])
        #expect(try tracks(audio: Self.option(3, .audio, nil)) == ["1 hvc1 deu", "2 mp4a.40.2 ita"])
        // A track that the file does not have is replaced by the first one.
        #expect(try tracks(audio: Self.option(9, .audio, nil)) == ["1 hvc1 deu", "2 ac-3 fra"])
    }

    @Test func subtitlesOfAFileHaveTheCodecOfTheirTrack() throws {
        let selected = Self.option(4, .subtitles, "es")
        #expect(try tracks(subtitles: selected) == ["1 hvc1 deu", "2 ac-3 fra", "3 tx3g es"])
        #expect(try tracks(subtitles: Self.option(9, .subtitles, "es")).last == "3 wvtt es")
        #expect(try tracks(subtitles: selected, hasSubtitles: false) == ["1 hvc1 deu", "2 ac-3 fra"])
    }

    @Test func withoutAPresentationNothingIsDetermined() throws {
        let presentation = Presentation(try LiveWindowText().playlist)
        let variant = try #require(presentation.variants.first)
        var list = PlaybackTrackList()
        var sink = EffectSink(now: .zero)
        list.setTracks(Self.media, of: variant)
        let catalog = SourceCatalog(chooser: VariantChooser(StreamingOptions()))
        list.update(for: variant, catalog, hasAudioSource: true, &sink)
        let effects = sink.takeEffects(with: nil)
        #expect(list.tracks.isEmpty && effects.isEmpty)
    }
}
