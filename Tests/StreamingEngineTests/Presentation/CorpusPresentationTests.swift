import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import SharedCorpus
import StreamingEngine
import Testing

/// Tests of the properties that every playlist of the corpus must have.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no test data"))
struct CorpusPresentationTests {
    private static let address = ResourceAddress("https://corpus.example/folder/playlist.m3u8")

    private func playlists() throws -> [(name: String, playlist: Playlist)] {
        try SharedCorpus.files(below: "corpus/hls", extensions: ["m3u8", "m3u"]).compactMap { url in
            let bytes = [UInt8](try Data(contentsOf: url))
            let playlist = try? Playlist.parse(bytes, context: PlaylistContext(address: Self.address))
            return playlist.map { (url.lastPathComponent, $0) }
        }
    }

    @Test func everyMediaPlaylistHasAValidTimeline() throws {
        var count = 0
        for (name, playlist) in try playlists() {
            guard case .media(let media) = playlist else { continue }
            count += 1
            check(PresentationTimeline(media, start: MediaTime(seconds: 1_000)), name)
            #expect(Presentation(media).variants.count + Presentation(media).iFrameVariants.count == 1, "\(name)")
        }
        #expect(count > 250)
    }

    private func check(_ timeline: PresentationTimeline, _ name: String) {
        let media = timeline.playlist
        #expect(timeline.segments.count == media.segments.count, "\(name)")
        #expect(timeline.range.duration == media.duration, "\(name)")
        #expect(violations(in: timeline) == [], "\(name)")
        let window = timeline.liveWindow
        #expect(window.seekable.start >= window.range.start && window.seekable.end <= window.range.end, "\(name)")
        let start = StartPosition(in: timeline, isLowLatency: true).time
        #expect(start >= window.range.start && start <= timeline.edge, "\(name)")
        #expect(TimelineAlignment(of: media, to: timeline).start == timeline.start, "\(name)")
        checkUpdate(timeline, name)
    }

    /// Returns the segments of a timeline that differ from the playlist, or are not in order.
    private func violations(in timeline: PresentationTimeline) -> [String] {
        var found: [String] = []
        var end = timeline.start
        var domain: DiscontinuityDomain?
        // The longest playlist has 40,000 segments, of which the first ones cover all cases.
        for (segment, written) in zip(timeline.segments, timeline.playlist.segments).prefix(2_000) {
            func note(_ isKept: Bool, _ rule: String) {
                if !isKept { found.append("\(segment.sequence): \(rule)") }
            }
            note(segment.start == end && segment.duration >= .zero, "begins where the one before ends")
            note(segment.byteRange == written.byteRange && segment.address == written.address, "is where it is")
            note(segment.initialization?.byteRange == written.map?.byteRange, "has its map")
            note(segment.sequence == written.sequence, "has its number")
            note(domain.map { segment.domain >= $0 } ?? true, "has no earlier domain")
            if segment.duration > .zero {
                let found = timeline.position(at: segment.start)
                note(found == timeline.position(sequence: segment.sequence), "is found by its time")
            }
            (end, domain) = (segment.end, segment.domain)
        }
        if end != timeline.end, timeline.segments.count <= 2_000 { found.append("the last segment ends at the end") }
        return found
    }

    /// Checks that an update with the same playlist changes nothing.
    private func checkUpdate(_ timeline: PresentationTimeline, _ name: String) {
        var updated = timeline
        if let update = try? updated.update(timeline.playlist) {
            #expect(!update.hasUpdates && update.added.isEmpty, "\(name)")
        }
        #expect(updated.range == timeline.range, "\(name)")
        var schedule = ReloadSchedule()
        let action = schedule.loaded(timeline.playlist, began: .zero, at: .zero)
        if case .reload(let reload) = action {
            #expect(reload.time >= .milliseconds(100), "\(name)")
        } else {
            #expect(action == .finish && !timeline.isLive, "\(name)")
        }
    }

    @Test func aByteRangeBelongsToOneSegment() throws {
        for (name, playlist) in try playlists() {
            guard case .media(let media) = playlist, String(decoding: media.bytes, as: UTF8.self).contains("BYTERANGE")
            else { continue }
            let written = media.segments.indices.map { position in
                media.lines(ofSegment: position).contains { $0.tag == .byteRange }
            }
            let read = PresentationTimeline(media).segments.map { $0.byteRange != nil }
            #expect(zip(read, written).allSatisfy { !$0 || $1 }, "\(name)")
        }
    }

    @Test func everyMultivariantPlaylistHasAValidPresentation() throws {
        var count = 0
        for (name, playlist) in try playlists() {
            guard case .multivariant(let multivariant) = playlist else { continue }
            count += 1
            let presentation = Presentation(multivariant)
            let all = presentation.variants + presentation.iFrameVariants + presentation.unplayable.map(\.variant)
            #expect(
                all.reduce(0) { $0 + $1.locations.count }
                    == multivariant.variants.count + multivariant.iFrameVariants.count,
                "\(name)"
            )
            #expect(Set(presentation.variants.map(\.id)).count == presentation.variants.count, "\(name)")
            #expect(presentation.unplayable.allSatisfy { !$0.obstacles.isEmpty }, "\(name)")
            for group in presentation.groups { #expect(!group.options.isEmpty, "\(name)") }
            let selection = MediaSelectionRules(audioLanguages: ["de", "en"]).selection(for: presentation)
            #expect((selection[.audio] == nil) == (presentation.group(.audio) == nil), "\(name)")
            #expect(presentation.variants(for: selection).isEmpty == presentation.variants.isEmpty, "\(name)")
        }
        #expect(count > 100)
    }
}
