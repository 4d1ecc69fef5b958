{{- define "tfoci.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{- define "tfoci.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "tfoci.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tfoci.labels" -}}
{{ include "tfoci.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The options about trust and the registry, which all commands share. */}}
{{- define "tfoci.options" -}}
- --trust=/etc/tfoci/{{ .Values.files.trust }}
{{- with .Values.files.credentials }}
- --authfile=/etc/tfoci/{{ . }}
{{- end }}
{{- with .Values.files.authority }}
- --ca-file=/etc/tfoci/{{ . }}
{{- end }}
{{- end }}

{{/* What a pod of Pod Security `restricted` may do. tfoci asks the cluster's API for nothing. */}}
{{- define "tfoci.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toJson . }}
{{- end }}
volumes:
  - name: etc
    secret: {secretName: {{ .Values.secret }}, defaultMode: 0440}
  - name: tmp
    emptyDir: {}
{{- end }}

{{- define "tfoci.container" -}}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: etc, mountPath: /etc/tfoci, readOnly: true}
  - {name: tmp, mountPath: /tmp}
{{- end }}
