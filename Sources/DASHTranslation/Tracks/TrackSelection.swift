import DASHManifest
import HLSPlaylist
import MediaTiming

/// A namespace for the choice of the tracks of a presentation.
///
/// The period with the most video representations determines the tracks, the first of several; without video, that with
/// the most audio representations. Audio and subtitles in languages that only other periods have are added.
enum TrackSelection {
    static func tracks(
        of periods: [PeriodTracks],
        limits: TranslationLimits,
        losses: inout TranslationLosses
    ) -> [TrackDescriptor] {
        guard let model = model(of: periods) else { return [] }
        let candidates = model.candidates + laterLanguages(of: periods, besides: model)
        var result: [TrackDescriptor] = []
        var names: Set<String> = []
        var subtitles: Set<TrackDescriptor.RenditionKey> = []
        for candidate in candidates {
            guard result.count < limits.playlistCount else {
                losses.append(.tooManyTracks, "there are more than \(limits.playlistCount) representations")
                break
            }
            var track = candidate.descriptor
            if track.kind == .subtitles, !subtitles.insert(track.renditionKey).inserted {
                let message = "only the first representation of subtitles is used"
                losses.append(.textRepresentation, message, line: candidate.representation.element.line)
                continue
            }
            // Identifiers can be missing, repeated or equal after characters are removed.
            let id = PlaylistText.fileName(track.representationID)
            let base = id.isEmpty ? track.kind.rawValue : "\(track.kind.rawValue)-\(id)"
            var name = base
            var number = 2
            // File systems can ignore the case of letters.
            while !names.insert(name.lowercased()).inserted {
                name = "\(base)-\(number)"
                number +|= 1
            }
            track.fileName = "\(name).m3u8"
            result.append(track)
        }
        return result
    }

    /// Returns audio and subtitles in languages that only other periods have, each language once for each kind.
    ///
    /// In the periods without the language, the track has other audio, or gaps.
    private static func laterLanguages(of periods: [PeriodTracks], besides model: PeriodTracks) -> [TrackCandidate] {
        var result: [TrackCandidate] = []
        for kind in [TrackDescriptor.Kind.audio, .subtitles] {
            let own = model.candidates(kind)
            var known = Set(own.compactMap(\.descriptor.language).map { LanguageMatching.canonical($0) })
            // A period without audio of its own has it in the video, and a language that is not named says nothing.
            if kind == .audio, own.isEmpty { continue }
            for period in periods {
                for candidate in period.candidates(kind) {
                    guard let language = candidate.descriptor.language, language != "und",
                        known.insert(LanguageMatching.canonical(language)).inserted
                    else { continue }
                    result.append(candidate)
                }
            }
        }
        return result
    }

    private static func model(of periods: [PeriodTracks]) -> PeriodTracks? {
        for kind in [TrackDescriptor.Kind.video, .audio] {
            let counts = periods.map { $0.candidates(kind).count }
            if let most = counts.max(), most > 0, let index = counts.firstIndex(of: most) { return periods[index] }
        }
        return nil
    }
}
