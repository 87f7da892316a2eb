import DASHManifest
import Foundation
import ResourceAddressing

/// Parses a manifest from text.
func parseManifest(
    _ text: String,
    address: String? = nil,
    limits: ManifestLimits = ManifestLimits()
) throws(ManifestParsingError) -> MediaPresentation {
    try MediaPresentation(
        parsing: Array(text.utf8).span,
        address: address.map { ResourceAddress($0) },
        limits: limits
    )
}

/// Parses a manifest with one period, whose attributes and contents are given.
func parsePeriod(
    _ contents: String,
    attributes: String = #"type="static" mediaPresentationDuration="PT10S""#,
    periodAttributes: String = "",
    address: String? = "https://example.test/a/manifest.mpd?token=1"
) throws(ManifestParsingError) -> MediaPresentation {
    try parseManifest(
        """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011"
          minBufferTime="PT2S" \(attributes)>
        <Period id="p" \(periodAttributes)>\(contents)</Period>
        </MPD>
        """,
        address: address
    )
}

/// Parses a manifest from a file.
func parseManifest(at file: URL, address: ResourceAddress? = nil) throws -> MediaPresentation {
    let bytes = [UInt8](try Data(contentsOf: file))
    return try MediaPresentation(parsing: bytes.span, address: address)
}

/// Returns the error with which a text is refused, or `nil` if it is a manifest.
func parsingError(_ text: String, limits: ManifestLimits = ManifestLimits()) -> ManifestParsingError? {
    do throws(ManifestParsingError) {
        _ = try parseManifest(text, limits: limits)
        return nil
    } catch {
        return error
    }
}
