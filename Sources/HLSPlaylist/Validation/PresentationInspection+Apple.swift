import MediaTiming

/// Apple's rules that concern several playlists.
extension PresentationInspection {
    func inspectApple() {
        let video: [(variant: InspectedVariant, child: InspectedChild)] =
            mediaPlaylists.filter { $0.role == .variant }.map { (InspectedVariant($0.entry), $0) }
            .filter { $0.0.hasVideo }
        if !multivariant.has(.independentSegments),
            let other = video.first(where: { !$0.child.inspection.has(.independentSegments) })
        {
            note(.appleNoIndependentSegments, "(\(other.child.address))")
        }
        for (variant, child) in video where child.inspection.segments.contains(where: { !$0.hasMap }) {
            if variant.codecs.contains(where: \.isHEVC) { note(.appleHEVCNotFMP4, in: child) }
            if variant.codecs.contains(where: { $0.fourCharacterCode == "av01" }) {
                note(.appleAV1NotFMP4, in: child)
            }
        }
        inspectBoundaries(video.map(\.child).filter(\.isEnded))
    }

    private func inspectBoundaries(_ playlists: [InspectedChild]) {
        guard let first = playlists.first else { return }
        if let other = playlists.dropFirst().first(where: { !haveSameBoundaries(first, $0) }) {
            note(.appleBoundariesDiffer, in: other)
        }
    }

    /// Returns a Boolean value that indicates whether the segment boundaries of two playlists agree within 0.1 seconds.
    private func haveSameBoundaries(_ model: InspectedChild, _ child: InspectedChild) -> Bool {
        let (expected, found) = (model.inspection.segments, child.inspection.segments)
        guard expected.count == found.count else { return false }
        let allowance = MediaTime(value: 1, timescale: 10)
        var (expectedEnd, end) = (MediaTime.zero, MediaTime.zero)
        for (left, right) in zip(expected, found) {
            expectedEnd = expectedEnd + (left.duration ?? .zero)
            end = end + (right.duration ?? .zero)
            if max(expectedEnd, end) - min(expectedEnd, end) > allowance { return false }
        }
        return true
    }
}
