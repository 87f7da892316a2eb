import MediaTiming

/// Apple's rules for the codecs and formats that a multivariant playlist declares.
extension PlaylistInspection {
    func inspectAppleVideo(_ presentation: ApplePresentation) {
        for variant in presentation.allVariants {
            for codec in variant.codecs {
                switch codec.mediaType {
                case .video: inspectAppleCodec(codec, variant)
                case .audio: if codec.isBareAPAC { note(.appleAPACWithoutProfile, variant, "(\(codec.name))") }
                case .subtitles: break
                }
            }
            for layout in variant.layouts where layout.contains("PROJ-AIV") && !layout.contains("CH-STEREO") {
                note(.appleImmersiveNotStereo, variant)
                break
            }
        }
        for variant in presentation.videoVariants where !variant.isImmersive {
            if let rate = variant.frameRate, rate > MediaTime(seconds: 60) {
                note(.appleFrameRateTooHigh, variant)
            }
        }
        inspectAppleFormatChoice(presentation)
        inspectAppleRange(presentation)
    }

    private func inspectAppleCodec(_ codec: InspectedCodec, _ variant: InspectedVariant) {
        let detail = "(\(codec.name))"
        let allowed: Set<Substring> = ["avc1", "avc3", "hvc1", "hev1", "dvh1", "dvhe", "dav1", "av01", "mjpg"]
        if !allowed.contains(codec.fourCharacterCode) { note(.appleVideoCodec, variant, detail) }
        if ["avc3", "hev1", "dvhe"].contains(codec.fourCharacterCode) {
            note(.appleInBandParameters, variant, detail)
        }
        if let (profile, level) = codec.h264 {
            if profile > 100 || level > 52 { note(.appleH264Level, variant, detail) }
            if profile < 100, !variant.isIFramesOnly { note(.appleH264NotHigh, variant, detail) }
        }
        if let (profile, _, level) = codec.hevc, level > 153 || [4, 5, 9, 11].contains(profile) {
            note(.appleHEVCLevel, variant, detail)
        }
        if let level = codec.av1LevelIndex, (19...30).contains(level) { note(.appleAV1Level, variant, detail) }
    }

    /// Checks that the presentation has a codec that each device supports.
    private func inspectAppleFormatChoice(_ presentation: ApplePresentation) {
        let h264 = presentation.variants.filter { variant in variant.codecs.contains { $0.h264 != nil } }
        let levels = h264.flatMap { $0.codecs.compactMap(\.h264?.level) }
        if let first = h264.first, levels.allSatisfy({ $0 > 41 }) { note(.appleNoCompatibleH264, first) }
        guard !presentation.isStereoscopicOnly else { return }
        let codecs = presentation.variants.flatMap(\.codecs)
        let hevc = codecs.compactMap(\.hevc)
        if !hevc.isEmpty, hevc.allSatisfy({ $0.isHighTier || $0.level > 120 }) {
            note(.appleNoCompatibleHEVC, line: nil)
        }
        if codecs.contains(where: { $0.mediaType == .video }), !codecs.contains(where: \.isH264) {
            note(.appleNoH264, line: nil)
        }
        if codecs.contains(where: { $0.mediaType == .audio }), !codecs.contains(where: \.isAAC) {
            note(.appleNoStereoAAC, line: nil)
        }
    }

    /// Checks dynamic range, and frame rates and bit rates that older devices do not support.
    private func inspectAppleRange(_ presentation: ApplePresentation) {
        let video = presentation.videoVariants
        let highRange = video.filter(\.isHighDynamicRange)
        if let first = highRange.first {
            if highRange.count == video.count, !presentation.isStereoscopicOnly { note(.appleNoSDR, first) }
            let isFast = highRange.allSatisfy { ($0.frameRate ?? .zero) > MediaTime(seconds: 30) }
            if isFast, !presentation.isImmersive { note(.appleNoHDRAt30, first) }
        }
        if !highRange.isEmpty || presentation.iFrameVariants.contains(where: \.isHighDynamicRange),
            let bare = (video + presentation.iFrameVariants).first(where: { !$0.entry.has("VIDEO-RANGE") })
        {
            note(.appleMissingVideoRange, bare)
        }
        let ultraHigh = video.filter { ($0.resolution?.height ?? 0) >= 2_160 }
        let most = BitRate(bitsPerSecond: 15_000_000)
        if let first = ultraHigh.first, !presentation.isImmersive,
            ultraHigh.allSatisfy({ ($0.typicalBitRate.map { $0 > most } ?? false) })
        {
            note(.appleUHDTooFast, first)
        }
    }
}
