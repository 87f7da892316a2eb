import HTTPTypes
import MediaTiming
import NIOCore
import PlaylistEditing
import PresentationLoading
import ReportFormat
import ResourceAddressing
import SegmentFormat
import StreamingEngine

/// The cues of a subtitle segment, with the properties of `VTTCue` of browsers.
struct BrowserCues {
    private let contents: SubtitleSegmentCues?

    /// Creates the cues of a segment.
    ///
    /// - Parameters:
    ///   - segment: The segment.
    ///   - address: The address of the segment, which can name a part of a WebVTT file.
    /// - Throws: ``ServerError`` if the subtitles cannot be read; `CancellationError`.
    init(_ segment: PipelineSegment, clippedTo address: ResourceAddress) throws {
        guard case .media(let media, let initialization) = segment.content, media.readableBytes > 0 else {
            contents = nil
            return
        }
        var bytes = Array(media.readableBytesView)
        if let clip = SubtitleClip(of: address) { bytes = clip.clipped(bytes) }
        do {
            contents = try SubtitleSegmentCues(bytes, initialization: initialization?.bytes)
        } catch {
            // The error only means that parsing was canceled, not that the document is damaged.
            if CancelableWork.isCanceled { throw CancellationError() }
            throw ServerError(.badGateway, "wrong-content", "the subtitles cannot be read: \(error)")
        }
    }

    /// Returns the cues as a report.
    ///
    /// - Parameters:
    ///   - offset: The offset to add to the timestamps of the media; `nil` if it is unknown.
    ///   - range: The time range of the segment on the timeline of the page.
    /// - Returns: The report.
    func report(offset: MediaTime?, range: MediaTimeRange) -> ReportValue {
        let cues = contents?.cues(offset: offset, range: range) ?? []
        return .fields(["cues": .array(cues.map(Self.report))])
    }

    private static func report(_ cue: SubtitleCue) -> ReportValue {
        let placement = cue.placement
        let isPlaced = placement.writingDirection == .horizontal && placement != SubtitlePlacement()
        let box = isPlaced ? cue.boxTopLeft : nil
        let position: Double? = box.map { box in
            switch placement.alignment {
            case .left: box.left
            case .center: box.left + placement.boxSize / 2
            case .right: box.left + placement.boxSize
            }
        }
        let hasLine =
            placement.verticalAnchor != .bottom || placement.verticalPosition != SubtitleLayout.safeArea.upperBound
        return .fields([
            "start": .seconds(cue.timeRange.start),
            "end": .seconds(cue.timeRange.end),
            "text": .string(WebVTTCueText.text(of: cue)),
            // The position of the top of the box, because some browsers do not support other anchors.
            "line": hasLine ? box.map { .real(min(max($0.top, 0), 100)) } : nil,
            "position": position.map { .real(min(max($0, 0), 100)) },
            "size": isPlaced ? .real(min(max(placement.boxSize, 0), 100)) : nil,
            "align": isPlaced ? .string(placement.alignment.name) : nil,
            "vertical": placement.writingDirection.vertical.map { .string($0) },
        ])
    }
}

extension SubtitlePlacement.HorizontalAnchor {
    /// The value of `VTTCue.align`.
    fileprivate var name: String {
        switch self {
        case .left: "left"
        case .center: "center"
        case .right: "right"
        }
    }
}

extension SubtitlePlacement.WritingDirection {
    /// The value of `VTTCue.vertical`; `nil` for horizontal text.
    fileprivate var vertical: String? {
        switch self {
        case .horizontal: nil
        case .verticalGrowingLeft: "rl"
        case .verticalGrowingRight: "lr"
        }
    }
}
