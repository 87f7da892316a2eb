import DASHManifest
import HLSPlaylist
import MediaTiming

/// The tracks of a period that HLS can describe.
struct PeriodTracks {
    /// The maximum number of descriptors of a set or representation that are read.
    ///
    /// 64 leaves room for all roles and properties of real manifests.
    private static let maximumDescriptorCount = 64

    let period: Period
    private(set) var candidates: [TrackCandidate] = []
    private var byKind: [TrackDescriptor.Kind: [Int]] = [:]

    init(_ period: Period, losses: inout TranslationLosses) {
        self.period = period
        let videoSets = period.adaptationSets.filter { $0.mediaType == .video }
        let hasMainVideo = videoSets.contains { !Self.isAlternative($0) }
        for set in period.adaptationSets {
            if set.link != nil {
                losses.append(
                    .remoteElement,
                    "an adaptation set is a remote element, which is not loaded",
                    line: set.element.line
                )
                continue
            }
            guard let kind = Self.kind(of: set, hasMainVideo: hasMainVideo, losses: &losses) else { continue }
            let shared = SharedProperties(set, kind)
            for representation in set.representations {
                add(representation, of: set, kind, shared, losses: &losses)
            }
        }
    }

    /// Returns the candidates of a kind.
    func candidates(_ kind: TrackDescriptor.Kind) -> [TrackCandidate] { byKind[kind]?.map { candidates[$0] } ?? [] }

    private mutating func add(
        _ representation: Representation,
        of set: AdaptationSet,
        _ kind: TrackDescriptor.Kind,
        _ shared: SharedProperties,
        losses: inout TranslationLosses
    ) {
        let line = representation.element.line
        let name = "representation “\((representation.id ?? "").prefix(100))”"
        if !representation.dependencies.isEmpty {
            losses.append(
                .dependentRepresentation,
                "\(name) depends on others, so it cannot be played alone",
                line: line
            )
            return
        }
        for property in representation.ownEssentialProperties.prefix(Self.maximumDescriptorCount)
        where !Self.isKnown(property, among: representation.ownEssentialProperties) {
            if Self.trickModeSchemes.contains(property.scheme) {
                losses.append(.trickPlay, "\(name) is for trick play among other video", line: line)
            } else {
                let message = "\(name) requires the unknown property \(property.scheme.prefix(200))"
                losses.append(.unknownProperty, message, line: line)
            }
            return
        }
        guard let mimeType = Self.supportedType(representation, kind) else {
            let code: TranslationLoss.Code = kind == .subtitles ? .unsupportedText : .unsupportedContainer
            losses.append(code, "\(name) has the type \((representation.mimeType ?? "").prefix(100))", line: line)
            return
        }
        if kind == .iFrames, !Self.hasSingleFrames(representation, set, period) {
            losses.append(.trickPlay, "the segments of \(name) for trick play have several frames", line: line)
            return
        }
        let protections = Array(representation.contentProtections.prefix(Self.maximumDescriptorCount))
        if !protections.isEmpty {
            losses.append(.protected, "\(name) is protected and cannot be played", line: line)
        }
        byKind[kind, default: []].append(candidates.count)
        candidates.append(
            TrackCandidate(
                descriptor: Self.descriptor(representation, set, kind, mimeType, shared, losses: &losses),
                set: set,
                representation: representation,
                protections: protections,
                continuedPeriods: shared.continuedPeriods
            )
        )
    }

    /// The properties of a set that its tracks have in common.
    ///
    /// They are read once for all representations of the set, because the texts from which they are read can be long.
    private struct SharedProperties {
        let language: String?
        /// The message that the language tag is invalid; `nil` if it is valid or missing.
        let languageProblem: String?
        let role: String?
        let characteristics: [String]
        let isForced: Bool
        let label: String?
        let captions: [String: String?]
        /// The identifiers of the periods whose media the set continues without a discontinuity.
        let continuedPeriods: [String]

        init(_ set: AdaptationSet, _ kind: TrackDescriptor.Kind) {
            if let written = set.language, !PlaylistText.isLanguage(written) {
                language = nil
                languageProblem = "“\(String(written.unicodeScalars.prefix(100)))” is not a language tag"
            } else {
                language = set.language.map { String($0.unicodeScalars.prefix(64)) }
                languageProblem = nil
            }
            let isVideo = kind == .video || kind == .iFrames
            let roles = set.roles.prefix(maximumDescriptorCount).compactMap(\.value)
            let accessibility = Array(set.accessibility.prefix(maximumDescriptorCount))
            // One character can have any number of combining marks, so that Unicode scalars are counted.
            role = roles.first { $0 != "main" }.map { String($0.unicodeScalars.prefix(64)) }
            characteristics = isVideo ? [] : PeriodTracks.characteristics(kind, roles, accessibility)
            isForced = kind == .subtitles && roles.contains { $0 == "forced-subtitle" || $0 == "forced_subtitle" }
            label = set.label.map { String($0.unicodeScalars.prefix(200)) }
            captions = isVideo ? PeriodTracks.captions(accessibility) : [:]
            continuedPeriods = set.supplementalProperties.prefix(maximumDescriptorCount)
                .filter { $0.scheme == "urn:mpeg:dash:period-continuity:2015" }.compactMap(\.value)
        }
    }

    // MARK: Kinds

    private static let trickModeSchemes: Set<String> = [
        "http://dashif.org/guidelines/trickmode", "http://dashif.org/guidelines/trick-mode",
    ]
    private static let knownProperties: Set<String> = [
        "urn:mpeg:mpegB:cicp:ColourPrimaries", "urn:mpeg:mpegB:cicp:TransferCharacteristics",
        "urn:mpeg:mpegB:cicp:MatrixCoefficients", "urn:mpeg:mpegB:cicp:VideoFullRangeFlag",
        "urn:mpeg:dash:adaptation-set-switching:2016",
    ]

    /// Returns the kind of track that a set becomes, or `nil` if HLS cannot describe it.
    private static func kind(
        of set: AdaptationSet,
        hasMainVideo: Bool,
        losses: inout TranslationLosses
    ) -> TrackDescriptor.Kind? {
        let line = set.element.line
        let type = set.mediaType
        var isTrickMode = set.supplementalProperties.prefix(maximumDescriptorCount).contains {
            trickModeSchemes.contains($0.scheme)
        }
        for property in set.essentialProperties.prefix(maximumDescriptorCount) {
            let scheme = property.scheme
            if trickModeSchemes.contains(scheme) {
                isTrickMode = true
            } else if scheme.hasSuffix("thumbnail_tile") {
                losses.append(.thumbnails, "thumbnails are not part of the translation", line: line)
                return nil
            } else if !isKnown(property, among: set.essentialProperties) {
                let message = "an adaptation set requires the unknown property \(scheme.prefix(200))"
                losses.append(.unknownProperty, message, line: line)
                return nil
            }
        }
        switch type {
        case .video:
            if isTrickMode { return .iFrames }
            if hasMainVideo, isAlternative(set) {
                losses.append(.alternativeVideo, "an alternative video is not part of the translation", line: line)
                return nil
            }
            return .video
        case .audio: return .audio
        case .text: return .subtitles
        case .image:
            losses.append(.thumbnails, "images are not part of the translation", line: line)
            return nil
        case .application, nil:
            let name = set.mimeType ?? "no type"
            losses.append(.unsupportedType, "an adaptation set has \(name.prefix(100))", line: line)
            return nil
        }
    }

    /// Returns a Boolean value that indicates whether a property, or one of its alternatives, is known: those with the same
    /// identifier (ISO/IEC 23009-1:2022 §5.8.4.8).
    private static func isKnown(_ property: Descriptor, among properties: [Descriptor]) -> Bool {
        if knownProperties.contains(property.scheme) { return true }
        guard let id = property.element[.id] else { return false }
        return properties.prefix(maximumDescriptorCount).contains { other in
            other.element[.id] == id && knownProperties.contains(other.scheme)
        }
    }

    /// Returns a Boolean value that indicates whether a set of video is not the main one.
    private static func isAlternative(_ set: AdaptationSet) -> Bool {
        let roles = set.roles.prefix(maximumDescriptorCount).compactMap(\.value)
        return !roles.contains("main")
            && roles.contains { ["alternate", "sign", "supplementary", "commentary"].contains($0) }
    }

    /// Returns the MIME type of a representation if HLS clients can read it; an empty text if it is not declared.
    private static func supportedType(_ representation: Representation, _ kind: TrackDescriptor.Kind) -> String? {
        let type = (representation.mimeType ?? "").lowercased()
        if type.isEmpty { return type }
        switch kind {
        case .video, .iFrames: return ["video/mp4", "video/mp2t", "video/iso.segment"].contains(type) ? type : nil
        case .audio:
            let types = ["audio/mp4", "audio/mp2t", "video/mp2t", "audio/aac", "audio/mpeg", "audio/ac3", "audio/eac3"]
            return types.contains(type) ? type : nil
        case .subtitles: return ["application/mp4", "text/mp4", "text/vtt"].contains(type) ? type : nil
        }
    }

    /// Returns a Boolean value that indicates whether each segment has one frame, as I-frame playlists require.
    private static func hasSingleFrames(
        _ representation: Representation,
        _ set: AdaptationSet,
        _ period: Period
    ) -> Bool {
        guard let rate = representation.frameRate, rate > .zero else { return false }
        // The attributes of inner elements replace those of outer ones (§5.3.9.1).
        let templates = [representation.element, set.element, period.element].compactMap {
            $0.element(.segmentTemplate)
        }
        let timescale = templates.lazy.compactMap { $0.unsigned(.timescale) }.first ?? 1
        let entries = templates.lazy.compactMap { $0.element(.segmentTimeline) }.first?.timeline ?? []
        let duration = templates.lazy.compactMap { $0.unsigned(.duration) }.first ?? entries.first?.duration ?? 0
        guard duration > 0, entries.allSatisfy({ $0.duration == duration }) else { return false }
        let seconds = MediaTime(value: duration, timescale: max(1, timescale))
        return rate.scaled(by: seconds) == MediaTime(seconds: 1)
    }

    // MARK: Descriptors

    private static func descriptor(
        _ representation: Representation,
        _ set: AdaptationSet,
        _ kind: TrackDescriptor.Kind,
        _ mimeType: String,
        _ shared: SharedProperties,
        losses: inout TranslationLosses
    ) -> TrackDescriptor {
        if let problem = shared.languageProblem {
            losses.append(.invalidLanguage, problem, line: set.element.line)
        }
        let supplemental = representation.descriptors(.supplementalProperty).prefix(maximumDescriptorCount)
        let properties = supplemental + representation.descriptors(.essentialProperty).prefix(maximumDescriptorCount)
        // A brace could begin a reference to a variable.
        let codecs = representation.codecs.prefix(16).filter { Grammar.isCodecs($0) && !$0.contains("{") }
        let isVideo = kind == .video || kind == .iFrames
        return TrackDescriptor(
            kind: kind,
            representationID: representation.id ?? "",
            language: shared.language,
            role: shared.role,
            characteristics: shared.characteristics,
            isForced: shared.isForced,
            label: shared.label,
            codecs: kind == .subtitles && mimeType == "text/vtt" ? [] : Array(codecs),
            supplementalCodecs: isVideo ? supplementalCodecs(representation) : nil,
            channels: isVideo
                ? nil
                : AudioChannelCount.value(
                    Array(representation.descriptors(.audioChannelConfiguration).prefix(maximumDescriptorCount)),
                    supplemental: Array(supplemental)
                ),
            bandwidth: max(1, representation.bandwidth?.bitsPerSecond ?? 1),
            width: isVideo ? representation.width : nil,
            height: isVideo ? representation.height : nil,
            frameRate: isVideo ? representation.frameRate.flatMap(frameRate) : nil,
            videoRange: isVideo ? videoRange(Array(properties), Array(codecs)) : nil,
            captions: shared.captions
        )
    }

    /// Returns a frame rate with at most three decimal places, as RFC 8216bis §4.4.6.2 requires.
    private static func frameRate(_ rate: MediaTime) -> String? {
        let thousandths = rate.scaled(by: MediaTime(seconds: 1_000)).roundedSeconds
        guard thousandths > 0, thousandths < 1_000_000 else { return nil }
        return MediaTime(value: thousandths, timescale: 1_000).description
    }

    private static func supplementalCodecs(_ representation: Representation) -> String? {
        let codecs = representation.supplementalCodecs.filter { Grammar.isSupplementalCodecs($0) && !$0.contains("{") }
        return codecs.isEmpty ? nil : codecs.joined(separator: ",")
    }

    private static func videoRange(_ properties: [Descriptor], _ codecs: [String]) -> String? {
        let scheme = "urn:mpeg:mpegB:cicp:TransferCharacteristics"
        switch properties.first(where: { $0.scheme == scheme })?.shortValue {
        case "16": return "PQ"
        case "18": return "HLG"
        case .some: return "SDR"
        case nil: return codecs.contains { $0.hasPrefix("dvh1.05") || $0.hasPrefix("dvhe.05") } ? "PQ" : nil
        }
    }

    private static func characteristics(
        _ kind: TrackDescriptor.Kind,
        _ roles: [String],
        _ accessibility: [Descriptor]
    ) -> [String] {
        let purposes = accessibility.filter { $0.scheme == "urn:tva:metadata:cs:AudioPurposeCS:2007" }.compactMap(
            \.value
        )
        let names = roles + accessibility.filter { $0.scheme == "urn:mpeg:dash:role:2011" }.compactMap(\.value)
        var result: [String] = []
        if kind == .audio {
            if names.contains("description") || purposes.contains("1") {
                result.append("public.accessibility.describes-video")
            }
            if names.contains("enhanced-audio-intelligibility") || purposes.contains("8") {
                result.append("public.accessibility.enhances-speech-intelligibility")
            }
        } else {
            if names.contains("caption") || purposes.contains("2") {
                result.append("public.accessibility.transcribes-spoken-dialog")
                result.append("public.accessibility.describes-music-and-sound")
            }
            if names.contains("easyreader") { result.append("public.easy-to-read") }
        }
        return result
    }

    /// Returns the closed captions in video, such as `CC1=eng;CC3=swe` or `1=lang:eng` (SCTE 214-1 §7.2).
    private static func captions(_ accessibility: [Descriptor]) -> [String: String?] {
        var result: [String: String?] = [:]
        for descriptor in accessibility {
            let is708 = descriptor.scheme == "urn:scte:dash:cc:cea-708:2015"
            guard is708 || descriptor.scheme == "urn:scte:dash:cc:cea-608:2015" else { continue }
            for entry in (descriptor.value ?? "").split(separator: ";").prefix(63) {
                let parts = entry.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces() }
                guard let channel = parts.first else { continue }
                let name = is708 ? "SERVICE\(channel)" : channel.hasPrefix("CC") ? String(channel) : "CC1"
                var language =
                    parts.count > 1 ? String(parts[1]) : channel.hasPrefix("CC") || is708 ? nil : String(channel)
                if let written = language, written.hasPrefix("lang:") {
                    language = String(written.dropFirst(5).prefix { $0 != "," })
                }
                let number = Int(name.drop { !$0.isNumber }) ?? 0
                guard is708 ? (1...63).contains(number) : ["CC1", "CC2", "CC3", "CC4"].contains(name) else { continue }
                result[name] = language.flatMap { PlaylistText.isLanguage($0) ? $0 : nil }
            }
        }
        return result
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        let front = drop { $0 == " " }
        return front.last == " " ? front[...(front.lastIndex { $0 != " " } ?? front.startIndex)] : front
    }
}
