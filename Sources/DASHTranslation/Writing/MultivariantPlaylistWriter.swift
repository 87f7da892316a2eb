import DASHManifest
import MediaTiming
import ResourceAddressing

/// A writer of the multivariant playlist of the tracks of a presentation.
///
/// Audio representations of one codec, channel configuration and rank form a group, which has a rendition for each
/// language and role. Each video representation is combined with each group as long as there are few of them.
struct MultivariantPlaylistWriter {
    /// The maximum number of variants for which all combinations of video and audio are written.
    private static let maximumCombinationCount = 64

    /// A rendition of a group: the track and the values that are the same in all groups.
    private struct Member {
        let track: Int
        let name: String
        let isDefault: Bool
    }

    private struct Group {
        let id: String
        let members: [Member]
    }

    private let tracks: [TrackDescriptor]
    private let renditionKeys: [TrackDescriptor.RenditionKey]
    private let measures: [TrackMeasure]
    private let sessionKeys: [String]
    private let steering: SteeringServer?
    private let hasIndependentSegments: Bool

    init(
        _ tracks: [TrackDescriptor],
        measures: [TrackMeasure],
        sessionKeys: [String],
        steering: SteeringServer?,
        hasIndependentSegments: Bool
    ) {
        self.tracks = tracks
        renditionKeys = tracks.map(\.renditionKey)
        self.measures = measures
        self.sessionKeys = sessionKeys
        self.steering = steering
        self.hasIndependentSegments = hasIndependentSegments
    }

    var text: String {
        let audio = audioGroups
        let subtitles = subtitleGroup
        let captions = captionLines
        let needsVersion7 = captions.contains { $0.contains("INSTREAM-ID=\"SERVICE") }
        var lines = ["#EXTM3U"]
        if needsVersion7 { lines.append("#EXT-X-VERSION:7") }
        if hasIndependentSegments { lines.append("#EXT-X-INDEPENDENT-SEGMENTS") }
        lines += sessionKeys.map { "#EXT-X-SESSION-KEY:\($0)" }
        if let steering {
            var attributes = AttributeWriter()
            attributes.append("SERVER-URI", address: steering.address.text)
            attributes.append("PATHWAY-ID", quoted: steering.pathways.first?.id)
            lines.append("#EXT-X-CONTENT-STEERING:\(attributes.text)")
        }
        // Without content steering, there is one pathway without an identifier.
        let pathways = steering.map { $0.pathways.map(Optional.some) } ?? [nil]
        for pathway in pathways {
            for group in audio { lines += group.members.map { line(of: $0, in: group, type: "AUDIO", pathway) } }
            guard let subtitles else { continue }
            lines += subtitles.members.map { line(of: $0, in: subtitles, type: "SUBTITLES", pathway) }
        }
        lines += captions.map { "#EXT-X-MEDIA:\($0)" }
        for pathway in pathways {
            lines += variantLines(audio, subtitles, hasCaptions: !captions.isEmpty, pathway)
            for index in indices(.iFrames) {
                let codecs = tracks[index].codecs
                var attributes = videoAttributes(index, bandwidth: peak(index), average: nil, codecs: codecs, pathway)
                attributes.append("URI", address: fileName(index, pathway))
                lines.append("#EXT-X-I-FRAME-STREAM-INF:\(attributes.text)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func fileName(_ track: Int, _ pathway: SteeringServer.Pathway?) -> String {
        pathway?.fileName(tracks[track].fileName) ?? tracks[track].fileName
    }

    private func groupID(_ group: Group?, _ pathway: SteeringServer.Pathway?) -> String? {
        group.map { pathway?.groupID($0.id) ?? $0.id }
    }

    private func indices(_ kind: TrackDescriptor.Kind) -> [Int] { tracks.indices.filter { tracks[$0].kind == kind } }
    private func peak(_ index: Int) -> Int64 { max(tracks[index].bandwidth, measures[index].peak) }

    // MARK: Variants

    private func variantLines(
        _ audio: [Group],
        _ subtitles: Group?,
        hasCaptions: Bool,
        _ pathway: SteeringServer.Pathway?
    ) -> [String] {
        let videos = indices(.video).sorted { (tracks[$0].bandwidth, $0) < (tracks[$1].bandwidth, $1) }
        let subtitleCodecs = subtitles?.members.flatMap { tracks[$0.track].codecs } ?? []
        var result: [String] = []
        func append(_ index: Int, _ group: Group?) {
            let members = group?.members.map(\.track) ?? []
            let others = members.filter { $0 != index }
            let isAudio = tracks[index].kind == .audio
            let added = isAudio ? 0 : others.map(peak).max() ?? 0
            let averages =
                isAudio ? [measures[index].average] : [measures[index].average] + others.map { measures[$0].average }
            let average: Int64? =
                averages.contains(nil)
                ? nil
                : (averages[0] ?? 0) +| (averages.dropFirst().compactMap { $0 }.max() ?? 0)
            var codecs: [String] = []
            for codec in tracks[index].codecs + members.flatMap({ tracks[$0].codecs }) + subtitleCodecs
            where !codecs.contains(codec) { codecs.append(codec) }
            let rate = peak(index) +| added
            var attributes = videoAttributes(index, bandwidth: rate, average: average, codecs: codecs, pathway)
            attributes.append("FRAME-RATE", token: tracks[index].frameRate)
            attributes.append("AUDIO", quoted: groupID(group, pathway))
            attributes.append("SUBTITLES", quoted: groupID(subtitles, pathway))
            if hasCaptions { attributes.append("CLOSED-CAPTIONS", quoted: "captions") }
            result.append("#EXT-X-STREAM-INF:\(attributes.text)\n\(fileName(index, pathway))")
        }
        if videos.isEmpty {
            for group in audio {
                if let member = group.members.first(where: \.isDefault) ?? group.members.first {
                    append(member.track, group)
                }
            }
        } else if audio.isEmpty {
            for video in videos { append(video, nil) }
        } else if videos.count *| audio.count <= Self.maximumCombinationCount {
            for video in videos { for group in audio { append(video, group) } }
        } else {
            // Each video and each group occurs in at least one variant.
            for position in 0..<max(videos.count, audio.count) {
                // Bounded: neither list is empty.
                append(videos[position % videos.count], audio[position % audio.count])
            }
        }
        return result
    }

    private func videoAttributes(
        _ index: Int,
        bandwidth: Int64,
        average: Int64?,
        codecs: [String],
        _ pathway: SteeringServer.Pathway?
    ) -> AttributeWriter {
        let track = tracks[index]
        var attributes = AttributeWriter()
        attributes.append("BANDWIDTH", token: "\(bandwidth)")
        if let average, average > 0 { attributes.append("AVERAGE-BANDWIDTH", token: "\(min(average, bandwidth))") }
        if !codecs.isEmpty, !track.codecs.isEmpty { attributes.append("CODECS", quoted: codecs.joined(separator: ",")) }
        attributes.append("SUPPLEMENTAL-CODECS", quoted: track.supplementalCodecs)
        if let width = track.width, let height = track.height {
            attributes.append("RESOLUTION", token: "\(width)x\(height)")
        }
        // Without the attribute, clients assume SDR; where some variants have it, all should (RFC 8216bis §4.4.6.2).
        let hasRanges = tracks.contains { $0.videoRange != nil }
        let isVideo = track.kind == .video || track.kind == .iFrames
        attributes.append("VIDEO-RANGE", token: isVideo && hasRanges ? track.videoRange ?? "SDR" : nil)
        attributes.append("PATHWAY-ID", quoted: pathway?.id)
        return attributes
    }

    // MARK: Groups

    /// The audio groups, which all have the same renditions (RFC 8216bis §4.4.6.1.1).
    private var audioGroups: [Group] {
        let audio = indices(.audio)
        guard !audio.isEmpty else { return [] }
        // A presentation with one audio representation and no video needs no group.
        if indices(.video).isEmpty, audio.count == 1 { return [Group(id: "audio", members: members([audio[0]]))] }
        var keys: [TrackDescriptor.RenditionKey] = []
        var ranks: [GroupKey: [TrackDescriptor.RenditionKey: Int]] = [:]
        var order: [GroupKey] = []
        let sorted = audio.sorted { (tracks[$0].bandwidth, $0) < (tracks[$1].bandwidth, $1) }
        var counts: [FamilyKey: Int] = [:]
        for index in audio where !keys.contains(tracks[index].renditionKey) { keys.append(tracks[index].renditionKey) }
        for index in sorted {
            let track = tracks[index]
            let family = FamilyKey(rendition: track.renditionKey, codec: track.codecFamily, channels: track.channels)
            let key = GroupKey(codec: family.codec, channels: family.channels, rank: counts[family, default: 0])
            counts[family, default: 0] +|= 1
            if ranks[key] == nil { order.append(key) }
            ranks[key, default: [:]][track.renditionKey] = index
        }
        // Groups of different channel configurations can end up with the same renditions.
        var lists: [[Int]] = []
        for key in order {
            let chosen = keys.map { ranks[key]?[$0] ?? nearest($0, key, audio) }
            if !lists.contains(chosen) { lists.append(chosen) }
        }
        return lists.enumerated().map { number, chosen in
            Group(id: "audio-\(number +| 1)", members: members(chosen))
        }
    }

    private struct GroupKey: Hashable {
        let codec: String
        let channels: String?
        let rank: Int
    }

    private struct FamilyKey: Hashable {
        let rendition: TrackDescriptor.RenditionKey
        let codec: String
        let channels: String?
    }

    /// Returns the representation of a rendition that is most similar to a group that has none of its own.
    private func nearest(_ rendition: TrackDescriptor.RenditionKey, _ key: GroupKey, _ audio: [Int]) -> Int {
        let own = audio.filter { renditionKeys[$0] == rendition }
        let same = own.filter { tracks[$0].codecFamily == key.codec }
        let pool = (same.isEmpty ? own : same).sorted { tracks[$0].bandwidth < tracks[$1].bandwidth }
        return pool.isEmpty ? audio[0] : pool[min(key.rank, pool.count -| 1)]
    }

    private var subtitleGroup: Group? {
        let subtitles = indices(.subtitles)
        return subtitles.isEmpty ? nil : Group(id: "subtitles", members: members(subtitles))
    }

    /// Returns the members of a group, with names that are unique within the group.
    private func members(_ indices: [Int]) -> [Member] {
        let isAudio = indices.first.map { tracks[$0].kind == .audio } ?? false
        let main = indices.first { tracks[$0].role == nil && tracks[$0].characteristics.isEmpty } ?? indices.first
        var names: Set<String> = []
        return indices.map { index in
            let track = tracks[index]
            let parts = [track.language ?? (isAudio ? "Audio" : "Subtitles"), track.role].compactMap { $0 }
            let written = PlaylistText.quotable(track.label ?? parts.joined(separator: " "))
            let base = written.isEmpty ? "Track" : written
            var name = base
            var number = 2
            while !names.insert(name).inserted {
                name = "\(base) \(number)"
                number +|= 1
            }
            return Member(track: index, name: name, isDefault: isAudio && index == main)
        }
    }

    private func line(
        of member: Member,
        in group: Group,
        type: String,
        _ pathway: SteeringServer.Pathway?
    ) -> String {
        let track = tracks[member.track]
        var attributes = AttributeWriter()
        attributes.append("TYPE", token: type)
        attributes.append("GROUP-ID", quoted: groupID(group, pathway))
        attributes.append("NAME", quoted: member.name)
        attributes.append("LANGUAGE", quoted: track.language)
        attributes.append("DEFAULT", token: member.isDefault ? "YES" : "NO")
        // If a player cannot distinguish several renditions, it must not select one automatically; the user selects
        // one.
        let first = group.members.first { other in
            let candidate = tracks[other.track]
            return candidate.language == track.language && candidate.characteristics == track.characteristics
                && candidate.isForced == track.isForced
        }
        let isSelectable = member.isDefault || first?.track == member.track && !isAmbiguousWithDefault(member, group)
        attributes.append("AUTOSELECT", token: isSelectable ? "YES" : "NO")
        if type == "SUBTITLES", track.isForced { attributes.append("FORCED", token: "YES") }
        if !track.characteristics.isEmpty {
            attributes.append("CHARACTERISTICS", quoted: track.characteristics.joined(separator: ","))
        }
        if type == "AUDIO" { attributes.append("CHANNELS", quoted: track.channels) }
        attributes.append("URI", address: fileName(member.track, pathway))
        return "#EXT-X-MEDIA:\(attributes.text)"
    }

    /// Returns a Boolean value that indicates whether a player cannot distinguish a rendition from the default one.
    private func isAmbiguousWithDefault(_ member: Member, _ group: Group) -> Bool {
        guard let other = group.members.first(where: \.isDefault), other.track != member.track else { return false }
        let (track, candidate) = (tracks[member.track], tracks[other.track])
        return candidate.language == track.language && candidate.characteristics == track.characteristics
    }

    /// The attributes of the closed captions in the video.
    private var captionLines: [String] {
        var found: [String: String?] = [:]
        for index in indices(.video) { found.merge(tracks[index].captions) { first, _ in first } }
        return found.sorted { $0.key < $1.key }.map { channel, language in
            var attributes = AttributeWriter()
            attributes.append("TYPE", token: "CLOSED-CAPTIONS")
            attributes.append("GROUP-ID", quoted: "captions")
            attributes.append("NAME", quoted: language.map { "\($0) \(channel)" } ?? channel)
            attributes.append("LANGUAGE", quoted: language)
            attributes.append("DEFAULT", token: "NO")
            attributes.append("AUTOSELECT", token: "NO")
            attributes.append("INSTREAM-ID", quoted: channel)
            return attributes.text
        }
    }
}
