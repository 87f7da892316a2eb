import MediaTiming
public import ReportFormat
import ResourceAddressing

extension Playlist {
    /// The contents of the playlist as a report, which `millstream inspect --json` prints; missing values are omitted.
    public var report: ReportValue {
        switch self {
        case .multivariant(let playlist): playlist.report(diagnostics)
        case .media(let playlist): playlist.report(diagnostics)
        }
    }
}

extension MultivariantPlaylist {
    fileprivate func report(_ diagnostics: [Diagnostic]) -> ReportValue {
        let (variants, renditions, iFrameVariants) = (variants, renditions, iFrameVariants)
        return .fields([
            "kind": .string("multivariant"),
            "url": .url(context.address),
            "version": declaredVersion.map { .integer($0) },
            "independentSegments": .bool(hasIndependentSegments),
            "variables": .variables(variables),
            "variants": .sequence(ReportSequence(count: variants.count) { variants[$0].report }),
            "renditions": .sequence(ReportSequence(count: renditions.count) { renditions[$0].report }),
            "iFrameVariants": .sequence(ReportSequence(count: iFrameVariants.count) { iFrameVariants[$0].report }),
            "sessionData": .array(sessionData.map(\.report)),
            "sessionKeys": .array(sessionKeys.map(\.report)),
            "contentSteering": contentSteering.map {
                .fields([
                    "serverURI": .string($0.serverURI),
                    "serverURL": .url($0.serverAddress),
                    "pathwayID": .text($0.pathwayID),
                ])
            },
            "start": index.report(.start, in: text),
            "unknownTags": .array(unknownTags.map(\.report)),
            "diagnostics": .array(diagnostics.map(\.report)),
        ]).appending(index.reportFields(of: index.tags[...], in: text))
    }
}

extension MediaPlaylist {
    fileprivate func report(_ diagnostics: [Diagnostic]) -> ReportValue {
        let segments = segments
        return .fields([
            "kind": .string("media"),
            "url": .url(context.address),
            "version": declaredVersion.map { .integer($0) },
            "targetDuration": targetDuration.map { .seconds($0) },
            "mediaSequence": .integer(mediaSequence),
            "discontinuitySequence": .integer(discontinuitySequence),
            "playlistType": .text(playlistType?.rawValue),
            "ended": .bool(hasEndMarker),
            "iFramesOnly": .bool(isIFramesOnly),
            "independentSegments": hasIndependentSegments ? .bool(true) : nil,
            "duration": .seconds(duration),
            "skippedSegments": .integer(skippedSegmentCount),
            "serverControl": index.report(.serverControl, in: storage.text),
            "partTarget": partTargetDuration.map { .seconds($0) },
            "variables": variables.isEmpty ? nil : .variables(variables),
            "start": index.report(.start, in: storage.text),
            "segments": .sequence(ReportSequence(count: segments.count) { segments[$0].report }),
            "trailingParts": .array(trailingParts.map(\.report)),
            "preloadHints": .array(preloadHints.map(\.report)),
            "renditionReports": .array(renditionReports.map(\.report)),
            "dateRanges": .array(dateRanges.map(\.report)),
            "unknownTags": .array(unknownTags.map(\.report)),
            "diagnostics": .array(diagnostics.map(\.report)),
        ]).appending(index.reportFields(of: index.tags[...], where: { $0 != .segment }, in: storage.text))
    }
}

extension ReportValue {
    /// The fields of an object; none for any other value.
    fileprivate var fields: [Field] { if case .object(let fields) = self { fields } else { [] } }

    fileprivate func appending(_ fields: [Field]) -> ReportValue { .object(self.fields + fields) }

    fileprivate static func text(_ text: String?) -> ReportValue? { text.map { .string($0) } }

    /// Returns the address if it is absolute; `nil` if it is relative, because it would only repeat `uri`.
    fileprivate static func url(_ address: ResourceAddress?) -> ReportValue? {
        address.flatMap { $0.isAbsolute ? .string($0.withoutUserInformation.text) : nil }
    }

    /// Returns a URI as written, without a user name and password.
    fileprivate static func uri(_ text: String) -> ReportValue {
        .string(ResourceAddress(text).withoutUserInformation.text)
    }

    /// Returns a URI as written, without a user name and password; `nil` if there is none.
    fileprivate static func uri(_ text: String?) -> ReportValue? {
        text.map { .string(ResourceAddress($0).withoutUserInformation.text) }
    }

    fileprivate static func list(_ texts: [String]) -> ReportValue? { texts.isEmpty ? nil : .strings(texts) }

    fileprivate static func variables(_ values: [String: String]) -> ReportValue {
        .object(values.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: .string($0.value)) })
    }
}

extension Variant {
    fileprivate var report: ReportValue {
        let tag = isIFramesOnly ? TagName.iFrameVariant : .variant
        var fields = ReportValue.fields(["uri": .uri(uri), "url": .url(address)]).fields
        // The URI of an I-frame variant is an attribute, which must not be reported a second time.
        fields += tag.definition.reportFields(attributes, context: context).filter {
            !["uri", "url"].contains($0.name)
        }
        return .object(fields + ReportValue.fields(["name": .text(name)]).fields)
    }
}

extension Rendition {
    fileprivate var report: ReportValue {
        // These fields are reported even if their attributes are missing: `DEFAULT=YES` implies `AUTOSELECT=YES`, and a
        // missing group identifier or name is reported as an empty string.
        let implied = ReportValue.fields([
            "groupID": .string(groupID), "name": .string(name), "autoselect": .bool(isAutoselect),
        ]).fields
        let written = TagName.media.definition.reportFields(attributes, context: context)
        let names = Set(implied.map(\.name))
        return .object(written.filter { !names.contains($0.name) } + implied)
    }
}

extension MediaSegment {
    fileprivate var report: ReportValue {
        .fields([
            "sequence": .integer(sequence),
            "discontinuitySequence": .integer(discontinuitySequence),
            "start": .seconds(start),
            "duration": .seconds(duration),
            "title": .text(title),
            "uri": .uri(uri),
            "url": .url(address),
            "byteRange": byteRange?.report,
            "map": map.map {
                .fields([
                    "uri": .uri($0.uri),
                    "url": .url($0.address),
                    "byteRange": $0.byteRange?.report,
                ])
            },
            "keys": keys.isEmpty ? nil : .array(keys.map(\.report)),
            "programDateTime": .text(programDateTime?.description),
            "gap": isGap ? .bool(true) : nil,
            "discontinuity": hasDiscontinuity ? .bool(true) : nil,
            "bitrate": bitRate.map { .integer($0.bitsPerSecond) },
            "parts": parts.isEmpty ? nil : .array(parts.map(\.report)),
        ]).appending(reportFields)
    }
}

extension ByteRange {
    fileprivate var report: ReportValue { .fields(["start": .integer(start), "length": .integer(length)]) }
}

extension EncryptionKey {
    fileprivate var report: ReportValue {
        .fields([
            "method": .string(method.rawValue),
            "uri": .uri(uri),
            "url": .url(address),
            "iv": .text(initializationVector),
            "keyFormat": .string(keyFormat),
            "keyFormatVersions": .string(keyFormatVersions.map(String.init).joined(separator: "/")),
        ])
    }
}

extension PartialSegment {
    fileprivate var report: ReportValue {
        .fields([
            "uri": .uri(uri),
            "url": .url(address),
            "duration": .seconds(duration),
            "independent": .bool(isIndependent),
            "gap": isGap ? .bool(true) : nil,
            "byteRange": byteRange?.report,
        ])
    }
}

extension PreloadHint {
    fileprivate var report: ReportValue {
        .fields([
            "type": .string(type),
            "uri": .uri(uri),
            "url": .url(address),
            "byteRangeStart": .integer(byteRangeStart),
            "byteRangeLength": byteRangeLength.map { .integer($0) },
        ])
    }
}

extension RenditionReport {
    fileprivate var report: ReportValue {
        .fields([
            "uri": .uri(uri),
            "url": .url(address),
            "lastMediaSequence": lastMediaSequence.map { .integer($0) },
            "lastPart": lastPart.map { .integer($0) },
        ])
    }
}

extension DateRange {
    fileprivate var report: ReportValue {
        .fields([
            "id": .string(id),
            "class": .text(classIdentifier),
            "startDate": .text(self["START-DATE"]),
            "endDate": .text(self["END-DATE"]),
            "duration": duration.map { .seconds($0) },
            "plannedDuration": plannedDuration.map { .seconds($0) },
            "endOnNext": endsOnNext ? .bool(true) : nil,
            "attributes": .object(
                attributes.map { ReportValue.Field(name: $0.name, value: .string($0.value)) }
            ),
        ])
    }
}

extension SessionData {
    fileprivate var report: ReportValue {
        .fields([
            "dataID": .string(dataID),
            "value": .text(value),
            "uri": .uri(uri),
            "url": .url(address),
            "format": uri == nil ? nil : .text(format?.rawValue),
            "language": .text(language),
        ])
    }
}

extension UnknownTag {
    fileprivate var report: ReportValue {
        .fields(["line": .integer(line), "name": .string(name), "value": .text(value)])
    }
}

extension Diagnostic {
    /// The problem as a report, which the command line prints as JSON.
    public var report: ReportValue {
        .fields([
            "line": line.map { .integer($0) },
            "severity": .string(severity.rawValue),
            "code": .string(code),
            "message": .string(message),
            "section": .string(section),
        ])
    }
}
