import HLSPlaylist
import PlaybackReporting
import SegmentFormat
import Testing

@testable import StreamingEngine

/// Tests of the options that the tracks of a media file offer.
@Suite struct FileSelectionTests {
    private let tracks = [
        MediaTrack(id: 1, mediaType: .video, codec: "avc1.64001F"),
        MediaTrack(id: 2, mediaType: .audio, codec: "mp4a.40.2", language: "eng"),
        MediaTrack(id: 5, mediaType: .audio, codec: "ac-3", language: "deu"),
        MediaTrack(id: 6, mediaType: .audio, codec: "mp4a.40.2", language: "deu"),
        MediaTrack(id: 7, mediaType: .audio, codec: "mp4a.40.2"),
        MediaTrack(id: 8, mediaType: .subtitles, codec: "S_HDMV/PGS", language: "eng"),
        MediaTrack(id: 9, mediaType: .subtitles, codec: "S_TEXT/UTF8", language: "fre"),
    ]

    @Test func audioTracksAndTextTracksAreOptions() throws {
        let groups = MediaSelectionGroup.groups(of: tracks, in: .matroska)
        #expect(groups.map(\.type) == [.audio, .subtitles])
        let audio = try #require(groups.first)
        #expect(audio.options.map(\.name) == ["eng", "deu (track 2)", "deu (track 3)", "track 4"])
        #expect(audio.options.map(\.isDefault) == [true, false, false, false])
        #expect(audio.options.map(\.fileTrack) == [.position(0), .position(1), .position(2), .position(3)])
        // Images are not shown, but count as a track.
        let text = try #require(groups.last)
        #expect(text.options.map(\.language) == ["fre"] && text.options.map(\.fileTrack) == [.position(1)])
        #expect(text.defaultOption == nil)
    }

    /// Returns the group of audio tracks with languages and names.
    private static func group(_ tracks: [(language: String?, name: String?)]) -> MediaSelectionGroup? {
        let named = tracks.map { language, name in
            MediaTrack(id: 0, mediaType: .audio, codec: "ac-3", name: name, language: language)
        }
        return MediaSelectionGroup.groups(of: named, in: .matroska).first
    }

    @Test func namesOfTracksAreNamesOfOptions() throws {
        let group = try #require(
            Self.group([("eng", "Main"), ("eng", "Commentary"), ("deu", "Commentary"), ("deu", nil)])
        )
        #expect(group.options.map(\.name) == ["Main", "Commentary", "Commentary", "deu"])
        let selected = MediaSelectionRules(audioLanguages: ["de:commentary"]).option(in: group)
        #expect(selected?.fileTrack == .position(2))
    }

    /// Tracks with the same language and name are told apart by their position.
    @Test func optionsWithOneNameHaveNumbers() {
        let equal = Self.group([("eng", "Main"), ("ENG", "main"), ("eng", "Commentary")])
        #expect(equal?.options.map(\.name) == ["Main (track 1)", "main (track 2)", "Commentary"])
        // The name of the first track would be that of the second one, which has none.
        let numbered = Self.group([(nil, "Track 2"), (nil, nil)])
        #expect(numbered?.options.map(\.name) == ["Track 2 (track 1)", "track 2"])
        let similar = Self.group([("eng", "Main (track 2)"), ("eng", "Main"), ("eng", "Main")])
        #expect(Set(similar?.options.map(\.id) ?? []).count == 3)
    }

    @Test func optionOfAFileIsSelectedByItsName() throws {
        let named = [("eng", "Main"), ("eng", "Director's commentary")].map { language, name in
            MediaTrack(id: 0, mediaType: .audio, codec: "ac-3", name: name, language: language)
        }
        let group = try #require(MediaSelectionGroup.groups(of: named, in: .matroska).first)
        var rules = MediaSelectionRules(audioLanguages: ["DIRECTOR'S COMMENTARY"])
        #expect(rules.option(in: group)?.fileTrack == .position(1))
        rules.audioLanguages = ["en:director's commentary"]
        #expect(rules.option(in: group)?.fileTrack == .position(1))
        rules.audioLanguages = ["de:director's commentary", "commentary"]
        #expect(rules.option(in: group)?.fileTrack == .position(0))
    }

    @Test(arguments: [MediaContainer.isoBaseMedia, .transportStream])
    func identifiersSelectTracksWhereSegmentsHaveThem(container: MediaContainer) {
        let groups = MediaSelectionGroup.groups(of: tracks, in: container)
        #expect(groups.map(\.type) == [.audio])
        #expect(groups.first?.options.map(\.fileTrack) == [.id(2), .id(5), .id(6), .id(7)])
        #expect(FileTrack.id(5).track(in: tracks, of: .audio)?.codec == "ac-3")
        #expect(FileTrack.position(1).track(in: tracks, of: .audio)?.codec == "ac-3")
        #expect(FileTrack.position(4).track(in: tracks, of: .audio) == nil)
    }

    @Test func oneAudioTrackIsNoChoice() {
        #expect(MediaSelectionGroup.groups(of: Array(tracks.prefix(2)), in: .isoBaseMedia).isEmpty)
    }

    @Test func selectedTracksAreSentToThePipelineOnce() throws {
        let groups = MediaSelectionGroup.groups(of: tracks, in: .matroska)
        var selection = MediaSelection()
        var settings = OutputSettings()
        let options = StreamingOptions()
        let initial = settings.changes(options, selection)
        #expect(!Self.selectsTrack(initial))
        selection[.audio] = groups.first?.options[1]
        selection[.subtitles] = groups.last?.options.first
        let selected = settings.changes(options, selection)
        #expect(selected == [.selectTrack(.audio, .position(1)), .selectTrack(.subtitles, .position(1))])
        let unchanged = settings.changes(options, selection)
        #expect(unchanged.isEmpty)
        selection[.subtitles] = nil
        let deselected = settings.changes(options, selection)
        #expect(deselected == [.selectTrack(.subtitles, nil)])
    }

    private static func selectsTrack(_ commands: [PipelineCommand]) -> Bool {
        commands.contains { command in if case .selectTrack = command { true } else { false } }
    }
}
