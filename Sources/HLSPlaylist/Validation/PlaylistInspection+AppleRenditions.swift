/// Apple's rules for renditions.
extension PlaylistInspection {
    func inspectAppleRenditions(_ presentation: ApplePresentation) {
        for rendition in presentation.renditions { inspectAppleRendition(rendition) }
        inspectAppleAudioGroups(presentation)
        inspectAppleOrder(presentation.renditions)
        let hasSubtitlesOrCaptions = presentation.renditions.contains {
            $0["TYPE"] == "SUBTITLES" || $0["TYPE"] == "CLOSED-CAPTIONS"
        }
        if presentation.hasVideo, !hasSubtitlesOrCaptions { note(.appleNoCaptions, line: nil) }
    }

    private func inspectAppleRendition(_ rendition: InspectedEntry) {
        let type = rendition["TYPE"]
        let characteristics = Set(rendition.attributes.list("CHARACTERISTICS"))
        let isAutoselect = rendition["AUTOSELECT"] == "YES"
        if type == "AUDIO", !isAutoselect, characteristics.contains("public.accessibility.describes-video") {
            note(.appleDescriptionNotAutoselect, rendition)
        }
        if type == "SUBTITLES", characteristics.contains("public.accessibility.describes-music-and-sound") {
            if !characteristics.contains("public.accessibility.transcribes-spoken-dialog") {
                note(.appleSDHIncomplete, rendition)
            } else if !isAutoselect {
                note(.appleSDHNotAutoselect, rendition)
            }
        }
        if rendition["FORCED"] == "YES", !isAutoselect { note(.appleForcedNotAutoselect, rendition) }
        if let type, type != "VIDEO", !rendition.has("LANGUAGE") { note(.appleMissingLanguage, rendition) }
        if type == "AUDIO", !rendition.has("URI"), let channels = rendition["CHANNELS"] {
            let count = channels.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            if !count.isEmpty, (Int(Substring(count)) ?? .max) > 2 {
                note(.appleMultichannelMuxed, rendition, "(\(channels))")
            }
        }
    }

    /// Checks for audio that is multiplexed with video.
    private func inspectAppleAudioGroups(_ presentation: ApplePresentation) {
        let audio = presentation.renditions.filter { $0["TYPE"] == "AUDIO" }
        if presentation.hasVideo {
            for members in audio.grouped(by: { $0["GROUP-ID"] }) where members.count > 1 {
                if let muxed = members.first(where: { !$0.has("URI") }) { note(.appleAlternativeAudioMuxed, muxed) }
            }
        }
        let groups = Set(audio.map { $0["GROUP-ID"] })
        for variant in presentation.variants where variant.hasVideoCodec && variant.hasAudioCodec {
            if !groups.contains(variant.entry["AUDIO"]) { note(.appleMuxedAudio, variant) }
        }
    }

    /// Checks that renditions without characteristics precede those with characteristics in the same group and
    /// language.
    private func inspectAppleOrder(_ renditions: [InspectedEntry]) {
        var special: Set<[String?]> = []
        for rendition in renditions {
            let key = ["TYPE", "GROUP-ID", "LANGUAGE"].map { rendition[$0] }
            if !rendition.attributes.list("CHARACTERISTICS").isEmpty {
                special.insert(key)
            } else if rendition.has("LANGUAGE"), special.contains(key) {
                note(.appleRenditionOrder, rendition)
            }
        }
    }
}
