import MediaTiming

/// The variants and renditions of a presentation, prepared for Apple's rules.
struct ApplePresentation {
    let variants: [InspectedVariant]
    let iFrameVariants: [InspectedVariant]
    let renditions: [InspectedEntry]
    /// The variants with video.
    let videoVariants: [InspectedVariant]
    /// A Boolean value that indicates whether the presentation has immersive video, to which other limits apply.
    let isImmersive: Bool
    /// A Boolean value that indicates whether all video is stereoscopic, and thus for headsets only.
    let isStereoscopicOnly: Bool

    init(_ presentation: InspectedPresentation) {
        // Malformed tags are left out, because they would be reported for attributes that could not be parsed.
        variants = presentation.variants.filter { !$0.line.isMalformed }.map { InspectedVariant($0) }
        iFrameVariants = presentation.iFrameVariants.filter { !$0.line.isMalformed }.map { InspectedVariant($0) }
        renditions = presentation.renditions.filter { !$0.line.isMalformed }
        videoVariants = variants.filter(\.hasVideo)
        isImmersive = variants.contains(where: \.isImmersive) || iFrameVariants.contains(where: \.isImmersive)
        isStereoscopicOnly = !videoVariants.isEmpty && videoVariants.allSatisfy(\.isStereoscopic)
    }

    var allVariants: [InspectedVariant] { variants + iFrameVariants }
    var hasVideo: Bool { !videoVariants.isEmpty }
}

/// Apple's rules for multivariant playlists as a whole.
extension PlaylistInspection {
    func inspectAppleMultivariant() {
        let presentation = ApplePresentation(presentation(noting: false))
        inspectAppleVideo(presentation)
        inspectAppleRenditions(presentation)
        inspectAppleAttributes(presentation)
        inspectAppleIFrames(presentation)
        inspectAppleChoice(presentation)
        inspectAppleSources(presentation)
        inspectAppleOutputs(presentation)
        for line in all(.contentSteering) where !attributes(line).has("PATHWAY-ID") {
            note(.appleSteeringWithoutPathway, line)
        }
        if presentation.hasVideo, !has(.independentSegments) { note(.appleMissingIndependentSegments, line: nil) }
        inspectAppleKeys()
    }

    func note(_ rule: Rule, _ variant: InspectedVariant, _ detail: String? = nil) {
        note(rule, variant.entry.line, detail)
    }

    /// Checks the attributes that every variant must have.
    private func inspectAppleAttributes(_ presentation: ApplePresentation) {
        let variants = presentation.variants
        for variant in variants {
            if !variant.entry.has("CODECS") { note(.appleMissingCodecs, variant) }
            if !variant.entry.has("AVERAGE-BANDWIDTH") { note(.appleMissingAverageBandwidth, variant) }
            if variant.entry.has("SUBTITLES"), !variant.codecs.isEmpty,
                !variant.codecs.contains(where: { $0.mediaType == .subtitles })
            {
                note(.appleSubtitlesNotInCodecs, variant)
            }
        }
        for variant in presentation.videoVariants {
            if let peak = variant.peak?.bitsPerSecond, let average = variant.average?.bitsPerSecond,
                peak > average, peak -| average > average
            {
                note(.applePeakTwiceAverage, variant)
            }
            guard !variant.codecs.isEmpty else { continue }
            if variant.resolution == nil { note(.appleMissingResolution, variant) }
            if !variant.entry.has("FRAME-RATE") { note(.appleMissingFrameRate, variant) }
        }
        if variants.contains(where: { $0.entry.has("SCORE") }),
            let bare = variants.first(where: { !$0.entry.has("SCORE") })
        {
            note(.appleMissingScore, bare)
        }
    }

    private func inspectAppleIFrames(_ presentation: ApplePresentation) {
        let iFrameVariants = presentation.iFrameVariants
        for variant in iFrameVariants {
            if !variant.entry.has("CODECS") { note(.appleIFrameWithoutCodecs, variant) }
            if !variant.entry.has("RESOLUTION") { note(.appleIFrameWithoutResolution, variant) }
        }
        guard let first = iFrameVariants.first else {
            if presentation.hasVideo { note(.appleNoIFrames, line: nil) }
            return
        }
        if iFrameVariants.count == 1 { note(.appleOneIFramePlaylist, first) }
        guard !presentation.isStereoscopicOnly else { return }
        if iFrameVariants.allSatisfy(\.isHighDynamicRange) { note(.appleIFramesWithoutSDR, first) }
        if iFrameVariants.contains(where: \.hasVideoCodec), !iFrameVariants.contains(where: \.hasH264) {
            note(.appleIFramesWithoutH264, first)
        }
    }

    /// Checks the choice of variants.
    private func inspectAppleChoice(_ presentation: ApplePresentation) {
        inspectAppleDefaults(presentation.videoVariants)
        inspectAppleAspectRatios(presentation.videoVariants)
        guard let first = presentation.videoVariants.first else { return }
        guard Set(presentation.videoVariants.map(\.peak)).count > 1 else {
            note(.appleSingleVariant, first)
            return
        }
        let top = presentation.videoVariants.compactMap { $0.resolution?.height }.max() ?? 0
        let best = presentation.videoVariants.filter { $0.resolution?.height == top }
        if top >= 720, Set(best.map { [$0.entry["BANDWIDTH"], $0.entry.uri] }).count < 2 {
            note(.appleOneTopVariant, line: nil, "(\(top))")
        }
    }

    /// Checks the first variant for each audio group, with which a player starts.
    private func inspectAppleDefaults(_ variants: [InspectedVariant]) {
        func distance(_ variant: InspectedVariant) -> Int64 {
            abs((variant.typicalBitRate?.bitsPerSecond ?? 0) -| 2_000_000)
        }
        let declared = variants.filter { ($0.typicalBitRate?.bitsPerSecond ?? 0) > 0 }
        for group in declared.grouped(by: { $0.entry["AUDIO"] }) {
            guard let first = group.first, distance(first) > 1_000_000,
                group.contains(where: { distance($0) < distance(first) })
            else { continue }
            note(.appleDefaultVariant, first)
        }
    }

    private func inspectAppleAspectRatios(_ variants: [InspectedVariant]) {
        let ratios = variants.compactMap(\.resolution).filter { $0.height > 0 }.map {
            Double($0.width) / Double($0.height)
        }
        // Encoders round dimensions to even numbers, so small differences are tolerated.
        if let least = ratios.min(), let greatest = ratios.max(), greatest / least > 1.02 {
            note(.appleAspectRatiosDiffer, line: nil)
        }
    }

    /// Checks the sources of the playlists.
    private func inspectAppleSources(_ presentation: ApplePresentation) {
        let variants = presentation.variants
        if !variants.isEmpty, !has(.contentSteering) {
            let copies = Set(
                variants.map { variant in
                    ["BANDWIDTH", "CODECS", "RESOLUTION"].map { variant.entry[$0] } + [
                        variant.entry["AUDIO"].map { _ in "" }
                    ]
                }
            )
            if copies.count == variants.count { note(.appleNoFailover, line: nil) }
        }
        let entries = presentation.allVariants.map(\.entry) + presentation.renditions
        if let first = entries.first(where: { $0.uri?.lowercased().hasPrefix("http:") == true }) {
            note(.applePlaylistWithoutTLS, first)
        }
    }

    /// Checks the output protection of encrypted variants.
    private func inspectAppleOutputs(_ presentation: ApplePresentation) {
        guard has(.sessionKey) else { return }
        for variant in presentation.videoVariants {
            guard let height = variant.resolution?.height, height >= 720 else { continue }
            let level = variant.entry["HDCP-LEVEL"]
            if height <= 1_080, level != "TYPE-0", level != "TYPE-1" { note(.appleHDWithoutHDCP, variant) }
            if height > 1_080, level != "TYPE-1" { note(.appleUHDWithoutHDCP, variant) }
        }
    }
}
